import { kindsIf, type Fact } from './fact.ts';

/** A fence of code that opens, or closes what one of its kind opened. More tildes underline a heading. */
const FENCE = /^[ \t>]*(`{3,}|~~~(?!~))([^`\n]*)$/gm;

export const openFences: Readonly<Fact> = {
  name: 'openFences',
  kindsOf({ answers, prompts }) {
    // An answer may end what its prompt opened.
    const isOpen = answers.some((text) => openFence(text) !== '');
    return kindsIf({ open: isOpen && openFence(prompts.at(-1) ?? '') === '' });
  },
};

/** Returns the fence that a text leaves open, or nothing. */
export function openFence(text: string): string {
  let open = '';
  if (!text.includes('```') && !text.includes('~~~')) return open;
  for (const [, fence = '', info = ''] of text.matchAll(FENCE))
    if (open === '') open = fence;
    else if (fence.startsWith(open) && info.trim() === '') open = '';
  // One may open or close within a line, too.
  return open !== '' && text.split(open).length % 2 === 1 ? '' : open;
}
