/** Shows the runs as one list again. */
export function ungroupRuns(shown: { group(isGrouped: boolean): Promise<void> }) {
  return (): Promise<void> => shown.group(false);
}
