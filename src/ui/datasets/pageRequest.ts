import type { PreviewFilter, PreviewMemory, PreviewRequest } from './protocol.ts';

/**
 * A message of the page as the request that it is, or undefined where the protocol has none such: what a page remembers can
 * come from another version of it.
 */
export function previewRequestOf(message: unknown): PreviewRequest | undefined {
  if (!isRecord(message)) return undefined;
  const { type, row } = message;
  switch (type) {
    case 'ready':
      return { type, memory: memoryOf(message['memory']) };
    case 'need': {
      const { generation, from, count } = message;
      return isCount(generation) && isCount(from) && isCount(count)
        ? { type, generation, from, count }
        : undefined;
    }
    case 'filter': {
      const filter = filterOf(message['filter']);
      return filter && { type, filter };
    }
    case 'more':
      return { type };
    case 'goTo':
    case 'reload':
      return isRow(row) ? { type, row } : undefined;
    case 'openSource': {
      const { problem } = message;
      return isRow(row) && (problem === undefined || isCount(problem)) ? { type, row, problem } : undefined;
    }
    case 'copy': {
      const { text } = message;
      return typeof text === 'string' ? { type, text } : undefined;
    }
    default:
      return undefined;
  }
}

function memoryOf(value: unknown): PreviewMemory | undefined {
  if (!isRecord(value)) return undefined;
  const filter = filterOf(value['filter']);
  return filter !== undefined && isRow(value['row']) ? { filter, row: value['row'] } : undefined;
}

function filterOf(value: unknown): PreviewFilter | undefined {
  if (!isRecord(value)) return undefined;
  const { text, matchCase, problems } = value;
  return typeof text === 'string' &&
    typeof matchCase === 'boolean' &&
    (problems === undefined || typeof problems === 'string')
    ? { text, matchCase, problems }
    : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}

function isRow(value: unknown): value is number {
  return isCount(value) && value >= 1;
}
