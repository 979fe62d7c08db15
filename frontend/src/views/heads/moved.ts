/** The keys of a grid of heads. */

/** So many rows does Page Up or Page Down go. */
const PAGE_ROWS = 5;

/** Where a key leads from a cell, counted row by row; null where it is no key of the grid, or leads out of it. */
export function moved(event: KeyboardEvent, from: number, lengths: readonly number[]): number | null {
  const starts = lengths.map((_, row) => lengths.slice(0, row).reduce((sum, n) => sum + n, 0));
  const down = starts.findLastIndex((start) => start <= from);
  const across = from - starts[down];
  const last = lengths.length - 1;
  const at = (row: number, column: number): number | null => (column >= 0 && column < lengths[row] ? starts[row] + column : null);
  const moves: Record<string, () => number | null> = {
    ArrowLeft: () => at(down, across - 1),
    ArrowRight: () => at(down, across + 1),
    ArrowUp: () => at(down - 1, across),
    ArrowDown: () => at(down + 1, across),
    Home: () => at(event.ctrlKey ? 0 : down, 0),
    End: () => at(event.ctrlKey ? last : down, lengths[event.ctrlKey ? last : down] - 1),
    PageUp: () => at(Math.max(0, down - PAGE_ROWS), across),
    PageDown: () => at(Math.min(last, down + PAGE_ROWS), across),
  };
  const isModified = event.altKey || event.metaKey || (event.ctrlKey && !["Home", "End"].includes(event.key));
  return isModified ? null : (moves[event.key]?.() ?? null);
}
