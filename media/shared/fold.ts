/** Longer texts are folded. */
const FOLD_CHARACTERS = 1_200;
const FOLD_LINES = 16;

/** Returns where a text is cut while it is folded, or its length if it isn't folded. */
export function foldAt(text: string): number {
  let at = -1;
  for (let line = 0; line < FOLD_LINES; line++) {
    at = text.indexOf('\n', at + 1);
    if (at === -1 || at >= FOLD_CHARACTERS) break;
  }
  const cut = at === -1 || at > FOLD_CHARACTERS ? FOLD_CHARACTERS : at;
  // Don't fold if only little would be hidden.
  if (text.length <= cut * 1.2 && at === -1) return text.length;
  if (cut >= text.length) return text.length;
  // Don't cut a surrogate pair in half.
  return /[\udc00-\udfff]/.test(text.charAt(cut)) ? cut - 1 : cut;
}
