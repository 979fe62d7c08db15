/** The texts of the maps of weights, English and Korean on adjacent lines. */
import type { Words } from "../../words";

export const MAP: Words = {
  map: [
    "Weights of layer {layer}, head {head}: {rows} queries down, {columns} keys across.",
    "{layer}층 {head}번 헤드의 가중치: 세로는 쿼리 {rows}개, 가로는 키 {columns}개.",
  ],
  cell: ["Query #{query} {asks} → key #{key} {read}: {percent}", "쿼리 #{query} {asks} → 키 #{key} {read}: {percent}"],
  exactly: ["weight {weight}", "가중치 {weight}"],
  masked: [
    "Query #{query} {asks} may not read key #{key} {read}",
    "쿼리 #{query} {asks} → 키 #{key} {read}: 마스크로 가려져 볼 수 없음",
  ],
  keys_help: [
    "Arrow keys choose a cell, with Shift ten at a time. Home and End: first and last key.",
    "화살표 키로 칸을 고르고, Shift를 함께 누르면 열 칸씩 움직입니다. Home과 End는 첫 키와 마지막 키입니다.",
  ],
  zoom_help: [
    "Plus and minus zoom, 0 shows the whole. Wheel, pinch, drag and double click work as well.",
    "+와 -로 확대하거나 축소하고 0으로 전체를 봅니다. 휠, 두 손가락, 끌기, 두 번 누르기로도 할 수 있습니다.",
  ],
  coming: ["Sampled; every cell is on its way …", "일부만 뽑아 그렸습니다. 모든 칸을 계산하는 중입니다 …"],
  complete: [
    "Every cell was looked at; a pixel shows the largest weight under it.",
    "모든 칸을 계산했습니다. 픽셀마다 그 아래 가장 큰 가중치를 보여 줍니다.",
  ],
  each_cell: ["Every cell is drawn.", "모든 칸을 그렸습니다."],
  zoom: ["Zoom", "확대"],
  closer: ["Closer", "확대"],
  further: ["Further", "축소"],
  whole: ["Whole map", "전체"],
  to_cell: ["To the chosen cell", "고른 칸으로"],
  window: [
    "Queries {row}–{row_end} of {rows}, keys {column}–{column_end} of {columns}",
    "쿼리 {rows}개 가운데 {row}–{row_end}번, 키 {columns}개 가운데 {column}–{column_end}번",
  ],
  overview: ["The whole map, and what of it is seen", "전체 지도와 지금 보이는 부분"],
  find: ["Find a token, or #position", "토큰 또는 #위치 찾기"],
  as_query: ["as query", "쿼리로"],
  as_key: ["as key", "키로"],
  found: ["#{at} {token}", "#{at} {token}"],
  found_nothing: ["No token says “{text}”.", "‘{text}’{particle} 들어 있는 토큰이 없습니다."],
  nothing_typed: ["Type a token or #position.", "토큰이나 #위치를 입력하십시오."],
  no_place: ["Positions go from 0 to {last}.", "위치는 0부터 {last}까지입니다."],
  scale: ["Colour scale", "색 눈금"],
  row: ["each row by its largest (√)", "행마다 가장 큰 값 기준 (√)"],
  sqrt: ["0 to 1, square root", "0–1, 제곱근"],
  log: ["0.00001 to 1, logarithm", "0.00001–1, 로그"],
  linear: ["0 to 1, linear", "0–1, 선형"],
  row_legend: [
    "Dark is 0; the brightest is the largest weight of each row (square root of the share of it). Largest in view: {top}.",
    "어두울수록 0에 가깝고, 행마다 가장 큰 가중치가 가장 밝습니다(그 값에 대한 비율의 제곱근). 보이는 것 가운데 최댓값: {top}.",
  ],
  sqrt_legend: ["Brightness is the square root of the weight, 0 to 1. Largest in view: {top}.", "밝기는 가중치(0–1)의 제곱근입니다. 보이는 것 가운데 최댓값: {top}."],
  log_legend: [
    "Brightness is the logarithm of the weight, from 0.00001 or less (dark) to 1. Largest in view: {top}.",
    "밝기는 가중치의 로그로, 0.00001 이하(어두움)부터 1까지입니다. 보이는 것 가운데 최댓값: {top}.",
  ],
  linear_legend: ["Brightness is the weight itself, 0 to 1. Largest in view: {top}.", "밝기는 가중치 그대로이며 0–1입니다. 보이는 것 가운데 최댓값: {top}."],
  grey: [
    "Grey: not allowed to read. Numbers in cells are rounded to 3 decimals.",
    "회색: 볼 수 없음. 칸 안의 숫자는 소수점 아래 셋째 자리까지 반올림했습니다.",
  ],
  hide_first: ["Hide the first token and renormalise", "첫 토큰을 빼고 다시 나누기"],
  first_hidden: [
    "These are no longer the model's numbers: key #0 was taken out of every row and the rest was shared out anew.",
    "지금 보이는 것은 모델의 숫자가 아닙니다. 모든 행에서 키 #0을 빼고, 나머지의 합이 1이 되게 다시 나누었습니다.",
  ],
};
