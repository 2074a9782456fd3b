/** Makes a text fit for the log: API keys, authorization values and the query strings of URLs (signatures) are masked. */
export function redact(text: string): string {
  return text
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]+/gi, '$1 ***')
    .replace(/service_[\w.~+/=-]+/g, 'service_***')
    .replace(/(https?:\/\/)[^\s/@]*@/gi, '$1***@')
    .replace(/(https?:\/\/[^\s?#"'<>]*)\?[^\s"'<>]*/gi, '$1?***');
}
