/** Room for every id that a service may reasonably give; the contract's are UUIDs (spec: "Run creation result"). */
const PLAIN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** The parts of a link that VS Code hands over, decoded. */
export interface LinkParts {
  path: string;
  query: string;
  fragment: string;
}

/** The path of the link to a run. */
export function runLinkPath(runId: string): string {
  return `/run/${encodeURIComponent(runId.toWellFormed())}`;
}

/**
 * The run that a link `/run/<id>` names; undefined for every other link. A link only navigates: whoever made it, it brings
 * nothing but an id.
 */
export function runIdOfLink({ path, query, fragment }: LinkParts): string | undefined {
  if (query !== '' || fragment !== '') return undefined;
  const start = '/run/';
  return path.startsWith(start) && path !== start ? path.slice(start.length) : undefined;
}

/** Whether an id that no list has named may be looked up, and repeated: another one could be any words of whoever made the link. */
export function isPlainRunId(runId: string): boolean {
  return PLAIN_ID.test(runId);
}
