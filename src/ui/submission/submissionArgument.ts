/** The submission that a command was called with: its row, or its id. */
export function submissionIdOf(argument: unknown): string | undefined {
  const id = typeof argument === 'object' && argument !== null && 'id' in argument ? argument.id : argument;
  return typeof id === 'string' ? id : undefined;
}
