/** Shows all loaded runs again. */
export function clearRunsFilter(shown: { clearFilter(): void }) {
  return (): void => shown.clearFilter();
}
