"""Every role from the whole table of weights, as a beginner would loop over it: what the streamed sums are held to."""

from __future__ import annotations

import math

import numpy as np

TIED = 1e-6


def right_keys(texts, special, words):
    """role → level ("piece", "other", "sink" or "word"), and a function of a query that gives the keys that would be right."""
    n = len(texts)
    names = {-1: "previous", 0: "self", 1: "next"}
    roles = {names.get(o, f"offset:{o:+d}"): ("piece", lambda i, o=o: {i + o} & set(range(n))) for o in range(-8, 9)}
    roles["same-token"] = (
        "other",
        lambda i: {j for j in range(n) if j != i and texts[j] == texts[i] and not special[j]},
    )
    roles["induction"] = (
        "piece",
        lambda i: {j + 1 for j in range(i - 1) if texts[j] == texts[i] and not special[j]},
    )
    roles["first"] = ("sink", lambda i: {0})
    roles["separator"] = ("sink", lambda i: {j for j in range(1, n) if special[j]})
    for role, pairs in words.items():
        roles[role] = ("word", lambda i, pairs=pairs: {k for q, k in pairs if q == i})
    return roles


def from_the_whole_table(weights, allowed, texts, special, units, words):
    """role → (cases, even, offsets, sums (head, 3)) of one layer, from its weights (head, query, key)."""
    n = len(texts)
    sink = [special[j] or j == 0 for j in range(n)]
    roles = right_keys(texts, special, words)
    found = {}
    for role, (level, right) in roles.items():
        found[role] = of_role(level, right, weights, allowed, sink, special, units, n)
    found |= of_rows(weights, allowed, sink, special, n)
    return {role: numbers for role, numbers in found.items() if numbers[0]}


def of_role(level, right, weights, allowed, sink, special, units, n):
    n_cases, even, offsets, sums = 0, 0.0, np.zeros(17), np.zeros((len(weights), 3))
    n_rows = max(units) + 1 if level == "word" else n
    for i in range(n_rows):
        candidates = candidates_of(level, i, allowed, sink, special, units, n)
        keys = right(i) & set(candidates)
        if len(candidates) < 2 or not keys:
            continue
        n_cases += 1
        even += len(keys) / len(candidates)
        for k in keys:
            if abs(k - i) <= 8:
                offsets[k - i + 8] += 1
        for head in range(len(weights)):
            row = {k: weight_of(level, i, k, weights[head], units) for k in candidates}
            most = max(row.values())
            best = {k for k in candidates if row[k] >= most * (1 - TIED)}
            sums[head, 0] += 0 if level == "sink" else len(keys & best) / len(best)
            sums[head, 1] += sum(row[k] for k in keys)
            sums[head, 2] += mass_of(level, i, weights[head], units, sink, n)
    return n_cases, even, offsets, sums


def candidates_of(level, i, allowed, sink, special, units, n):
    if level == "word":
        pieces = [p for p in range(n) if units[p] == i]
        sunk = {units[p] for p in range(n) if sink[p]}
        read = {units[k] for p in pieces for k in range(n) if allowed[p, k] and units[k] >= 0}
        return sorted(read - sunk - {i})
    if special[i] or (level == "sink" and i == 0):
        return []
    return [k for k in range(n) if allowed[i, k] and (level == "sink" or not sink[k]) and (level, k) != ("other", i)]


def weight_of(level, i, k, table, units):
    if level != "word":
        return table[i, k]
    reading = [p for p, unit in enumerate(units) if unit == i]
    return sum(table[p, j] for p in reading for j, unit in enumerate(units) if unit == k) / len(reading)


def mass_of(level, i, table, units, sink, n):
    reading = [p for p, unit in enumerate(units) if unit == i] if level == "word" else [i]
    return sum(table[p, j] for p in reading for j in range(n) if not sink[j]) / len(reading)


def of_rows(weights, allowed, sink, special, n):
    near, broad = (
        [0, 0.0, np.zeros(17), np.zeros((len(weights), 3))],
        [0, 0.0, np.zeros(17), np.zeros((len(weights), 3))],
    )
    for i in range(n):
        candidates = candidates_of("piece", i, allowed, sink, special, None, n)
        if len(candidates) < 2:
            continue
        near[0], broad[0], broad[1] = near[0] + 1, broad[0] + 1, broad[1] + 1
        near[1] += sum(abs(i - k) for k in candidates) / len(candidates)
        for head, table in enumerate(weights):
            mass = sum(table[i, k] for k in range(n) if not sink[k])
            near[3][head] += [
                sum(table[i, k] * abs(i - k) for k in candidates),
                sum(table[i, k] * abs(i - k) for k in range(n)),
                mass,
            ]
            of_all = -sum(table[i, k] * math.log(table[i, k]) for k in range(n) if table[i, k] > 0)
            apart = -sum(p * math.log(p) for k in candidates if mass and (p := table[i, k] / mass) > 0)
            broad[3][head] += [apart / math.log(len(candidates)), of_all / math.log(allowed[i].sum()), mass]
    return {"near": tuple(near), "broad": tuple(broad)}
