/** What the packed README needs of `package.json`. */
export interface Origin {
  version: string;
  repository?: { url: string };
}

/** The link or picture of a Markdown page, with what stands around its target. */
const TARGET = /(\]\(|(?:src|srcset|href)=")(?!https?:|#)([^)"\s]+)([)"])/g;
/** What only a reader of the repository needs. */
const BUILDING = /^## (?:Install|From source)\n.*?(?=^## )|^<!--.*?-->\n/gms;
const PICTURE = /<picture>.*?<\/picture>\n*|!\[[^\]]*\]\([^)]*\)\n*/gs;
const LINK = /\[([^\]]*)\]\((?!https?:|#)[^)]*\)/g;

/**
 * The README as stores and VS Code can show it, without how to build: neither shows a file of the package. Its pictures and pages are those of the
 * repository at this version's tag; without a repository, it has no pictures and no links to pages.
 */
export function packedReadme(markdown: string, { version, repository }: Origin): string {
  const text = markdown.replace(BUILDING, '');
  if (repository === undefined) return withoutFiles(text);
  const base = addressOf(repository.url);
  return text.replace(TARGET, (_, before: string, target: string, after: string) => {
    const kind = /\.(png|gif|webp)$/.test(target) ? 'raw' : 'blob';
    return `${before}${base}/${kind}/v${version}/${target}${after}`;
  });
}

/** The page of a repository from its URL in `package.json`. */
export function addressOf(url: string): string {
  return url.replace(/^git\+/, '').replace(/(\.git)?\/?$/, '');
}

function withoutFiles(markdown: string): string {
  return markdown
    .replace(PICTURE, '')
    .split('\n\n')
    .filter((paragraph) => !/^[·\s]+$/.test(paragraph.replace(LINK, '')))
    .join('\n\n')
    .replace(LINK, '$1')
    .trimEnd()
    .concat('\n');
}
