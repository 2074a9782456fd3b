/** The run that a command was called with: a row of the tree, or a `run_id` from a key binding, an extension or an agent. */
export function runIdOf(argument: unknown): string | undefined {
  if (typeof argument === 'string' && argument !== '') return argument;
  if (typeof argument !== 'object' || argument === null) return undefined;
  return 'runId' in argument && typeof argument.runId === 'string' ? argument.runId : undefined;
}
