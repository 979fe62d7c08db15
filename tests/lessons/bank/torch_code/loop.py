import torch


def attention(queries, keys, values):
    d = keys.shape[1]
    context = []
    all_weights = []
    for query in queries:
        scores = torch.empty(keys.shape[0], dtype=keys.dtype)
        for j, key in enumerate(keys):
            scores[j] = torch.dot(query, key)
        weights = torch.softmax(scores / d**0.5, dim=0)
        all_weights.append(weights)
        context.append((weights.unsqueeze(1) * values).sum(dim=0))
    return torch.stack(all_weights), torch.stack(context)
