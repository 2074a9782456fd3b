/**
 * Makes a text fit for the log: API keys, authorization values and the query strings of addresses (signatures), whole or
 * without their host, are masked; rather too much than too little.
 */
export function redact(text: string): string {
  return text
    .replace(/\b(bearer|basic)\s+\S+/gi, '$1 ***')
    .replace(/service_\S+/g, 'service_***')
    .replace(/(https?:\/\/)[^\s/?#]*@/gi, '$1***@')
    .replace(/\S+/g, withoutQuery);
}

function withoutQuery(word: string): string {
  const path = word.indexOf('/');
  if (path === -1) return word;
  const query = word.slice(path).search(/[?#]./);
  return query === -1 ? word : `${word.slice(0, path + query)}?***`;
}
