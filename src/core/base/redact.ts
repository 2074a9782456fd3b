/**
 * Redacts a text for the log: masks API keys, authorization values, credentials in URLs, and query strings, which
 * may be signatures. Masks too much rather than too little.
 */
export function redact(text: string): string {
  return text
    .replace(/\b(bearer|basic)\s+\S+/gi, '$1 ***')
    .replace(/service_\S+/g, 'service_***')
    .replace(/(https?:\/\/)[^\s/?#]*@/gi, '$1***@')
    .replace(/\S+/g, withoutQuery);
}

/** Masks the query or fragment of a URL or path. */
function withoutQuery(word: string): string {
  const path = word.indexOf('/');
  if (path === -1) return word;
  const query = word.slice(path).search(/[?#]./);
  return query === -1 ? word : `${word.slice(0, path + query)}?***`;
}
