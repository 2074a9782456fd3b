/** Room for every id that a service may reasonably give; the contract's are UUIDs (spec: "Run creation result"). */
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** The parts of a link that VS Code hands over. */
export interface LinkParts {
  path: string;
  query: string;
  fragment: string;
}

/**
 * The run that a link `/run/<id>` names; undefined for every other link. A link only navigates: whoever made it, it brings
 * nothing but an id.
 */
export function runIdOfLink({ path, query, fragment }: LinkParts): string | undefined {
  if (query !== '' || fragment !== '') return undefined;
  const [, id] = /^\/run\/([^/]+)$/.exec(path) ?? [];
  return id !== undefined && RUN_ID.test(id) ? id : undefined;
}
