import { kindsIf, type Fact } from './fact.ts';

/** A line that opens or closes a block of code. More than three tildes underline a heading. */
const FENCE = /^[ \t>]*(`{3,}|~~~(?!~))([^`\n]*)$/gm;

export const openFences: Readonly<Fact> = {
  name: 'openFences',
  kindsOf({ answers, prompts }) {
    // The prompt may have opened a block that the answer closes.
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
  // A fence inside a line may be its other end.
  return open !== '' && text.split(open).length % 2 === 1 ? '' : open;
}
