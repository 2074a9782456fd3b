import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** The pages of webviews: each has its script and style in `dist/`, under its name. */
export type PageName = 'preview' | 'run' | 'adapter';

/** The folder of a page's own files, the only one that it may load from. */
export function pageFolder(extensionUri: vscode.Uri, page: PageName): vscode.Uri {
  return vscode.Uri.joinPath(extensionUri, 'dist', page);
}

/** A page, without any content: that comes by messages. Only its own script and style may be loaded. */
export function pageHtml(
  webview: vscode.Webview,
  extensionUri: vscode.Uri,
  page: PageName,
  title: string,
): string {
  const folder = pageFolder(extensionUri, page);
  const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
  const nonce = randomBytes(16).toString('hex');
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="${escapeHtml(vscode.env.language)}">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)}</title>
    <link rel="stylesheet" href="${file(`${page}.css`)}" />
  </head>
  <body>
    <script nonce="${nonce}" src="${file(`${page}.js`)}"></script>
  </body>
</html>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
