import type { CallOptions, Client } from './client.ts';
import type { RunPage } from './types.ts';

/** More pages than any account could fill; a service that never ends its list ends here. */
const MAX_PAGES = 10_000;

/**
 * The pages of the run list, newest first. It always ends: also where the service claims more without a cursor or
 * repeats one. Where the last page has `has_more`, the list is not known to be whole.
 * @throws ApiError, CancelledError
 */
export async function* pages(
  client: Pick<Client, 'listRuns'>,
  { limit }: { limit?: number } = {},
  options: CallOptions = {},
): AsyncGenerator<RunPage> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await client.listRuns(
      { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) },
      options,
    );
    yield page;
    cursor = page.has_more ? page.next_cursor : undefined;
    if (!cursor || seen.has(cursor)) return;
    seen.add(cursor);
  } while (seen.size < MAX_PAGES);
}
