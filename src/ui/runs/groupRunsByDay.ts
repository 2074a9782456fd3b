/** Groups the rows of the Runs view by the day of the person's calendar on which they were created. */
export function groupRunsByDay(shown: { group(isGrouped: boolean): Promise<void> }) {
  return (): Promise<void> => shown.group(true);
}
