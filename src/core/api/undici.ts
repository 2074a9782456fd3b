/**
 * undici's parts, and the only file that loads it, at first use. Through deep imports: the package's root module may
 * replace the dispatcher behind every other extension's `fetch`.
 */
export { default as connect } from 'undici/lib/api/api-connect.js';
export { default as request } from 'undici/lib/api/api-request.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
