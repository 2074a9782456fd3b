// Shared by the pages of an account. They show the state they receive, and send clicks.
import type { PageAct, PageButton, PageNotice } from '../../src/ui/shared/protocol.ts';
import type { Client } from './client.ts';
import { copyButton, element, icon } from './dom.ts';
import { morph } from './morph.ts';

/**
 * Shows the page, and updates it with each state.
 * @param onPress called with the data attributes of buttons that the page itself handles
 */
export function showDocument<State extends { memory: unknown }>(
  client: Pick<
    Client<{ message: State; request: PageAct; memory: State['memory'] }>,
    'connect' | 'remember' | 'send'
  >,
  draw: (state: State) => readonly HTMLElement[],
  onPress: (data: DOMStringMap) => void = () => undefined,
): HTMLElement {
  const main = element('main');
  main.addEventListener('click', ({ target: clicked }) => {
    const button = clicked instanceof Element ? clicked.closest('button') : null;
    if (button === null || button.ariaDisabled === 'true') return;
    const { action, target } = button.dataset;
    if (action === undefined || target === undefined) onPress(button.dataset);
    else client.send({ type: 'act', action, target });
  });
  document.body.replaceChildren(main);
  client.connect((state) => {
    client.remember(() => state.memory);
    const focused = document.activeElement;
    const around = [...ancestorsOf(focused)];
    morph(main, element('main', {}, draw(state)));
    // If the focused button was removed, keyboard users continue next to it instead of at the top of the page.
    if (focused?.isConnected !== false || !document.hasFocus()) return;
    around
      .find((one) => one.isConnected && one.querySelector('button') !== null)
      ?.querySelector('button')
      ?.focus();
  });
  return main;
}

/** Starts with the innermost one. */
function* ancestorsOf(element: Element | null): Generator<Element> {
  for (let one = element?.parentElement; one; one = one.parentElement) yield one;
}

/** The page has one listener, which reads the attributes of all buttons, because elements are reused. */
export function drawButton(
  { action, target, words, label, isFirst, isDisabled }: PageButton,
  look: 'link' | 'secondary' = 'secondary',
): HTMLElement {
  const key = `${action} ${target}`;
  if (action === 'copy') return copyButton(target, key, words, label, look);
  return element('button', {
    class: isFirst === true ? 'primary' : look,
    text: words,
    attributes: {
      type: 'button',
      // A main button keeps the focus even if its target changes.
      'data-key': isDisabled === undefined ? key : action,
      'data-action': action,
      'data-target': target,
      'aria-label': label,
      // `disabled` would lose the focus.
      'aria-disabled': isDisabled === true ? 'true' : undefined,
    },
  });
}

export function drawButtons(
  buttons: readonly PageButton[],
  attributes: Record<string, string> = {},
): HTMLElement {
  return element(
    'div',
    { class: 'actions', attributes },
    buttons.map((one) => drawButton(one)),
  );
}

/** Draws the main buttons and, below them, notices: above, they would move the buttons. */
export function drawTop(
  name: string,
  actions: readonly PageButton[],
  notices: readonly PageNotice[],
): HTMLElement[] {
  return [
    drawButtons(actions, { 'data-key': 'actions', role: 'group', 'aria-label': name }),
    element('div', { attributes: { 'data-key': 'notices' } }, notices.map(drawNotice)),
  ];
}

function drawNotice({ key, kind, text, buttons }: PageNotice): HTMLElement {
  return element('div', { class: `notice ${kind}`, attributes: { 'data-key': key, role: 'status' } }, [
    ...(kind === 'info' ? [] : [icon(kind)]),
    element('span', { text }),
    ...buttons.map((one) => drawButton(one)),
  ]);
}

export function drawSection(key: string, title: string, content: readonly Node[], kind = key): HTMLElement {
  const attributes = { 'data-key': key, 'aria-labelledby': `title-${key}` };
  return element('section', { class: `ruled ${kind}`, attributes }, [
    element('h2', { text: title, attributes: { id: `title-${key}` } }),
    ...content,
  ]);
}

export function drawNote(text: string): HTMLElement {
  return element('p', { class: 'note', text });
}
