import type { AdapterStart, AdapterTool } from '../../src/ui/adapters/protocol.ts';
import { button, element } from '../shared/dom.ts';
import { drawNotes, type CopyButtons } from './overview.ts';

/** The recipes, one tab for each tool. */
export class RecipeTabs {
  readonly elements: readonly HTMLElement[];
  readonly #tools: readonly AdapterTool[];
  readonly #onTool: (tool: string) => void;
  readonly #tabs: readonly HTMLButtonElement[];
  readonly #panels: readonly HTMLElement[];

  /** @param chosen the tool that is shown first */
  constructor(
    tools: readonly AdapterTool[],
    words: AdapterStart['words'],
    copies: CopyButtons,
    chosen: string | undefined,
    onTool: (tool: string) => void,
  ) {
    this.#tools = tools;
    this.#onTool = onTool;
    this.#tabs = tools.map(({ tool, name }, index) =>
      button(name, () => this.#choose(index), {
        class: 'tab',
        key: `tab ${tool}`,
        attributes: { role: 'tab', id: `tab-${tool}`, 'aria-controls': `panel-${tool}` },
      }),
    );
    this.#panels = tools.map((tool) => drawPanel(tool, words, copies));
    const list = element(
      'div',
      { class: 'tabs', attributes: { role: 'tablist', 'aria-label': words.tools } },
      this.#tabs,
    );
    list.addEventListener('keydown', (event) => this.#move(event));
    this.elements = [list, ...this.#panels];
    this.#show(
      Math.max(
        0,
        tools.findIndex(({ tool }) => tool === chosen),
      ),
    );
  }

  #choose(index: number): void {
    this.#show(index);
    const tool = this.#tools[index];
    if (tool !== undefined) this.#onTool(tool.tool);
  }

  #show(index: number): void {
    this.#tabs.forEach((tab, other) => {
      tab.setAttribute('aria-selected', String(other === index));
      tab.setAttribute('tabindex', other === index ? '0' : '-1');
    });
    this.#panels.forEach((panel, other) => (panel.hidden = other !== index));
  }

  #move(event: KeyboardEvent): void {
    const count = this.#tabs.length;
    const at = this.#tabs.findIndex((tab) => tab === document.activeElement);
    const targets: Readonly<Record<string, number>> = {
      ArrowLeft: (at + count - 1) % count,
      ArrowRight: (at + 1) % count,
      Home: 0,
      End: count - 1,
    };
    const target = targets[event.key];
    if (at < 0 || target === undefined) return;
    event.preventDefault();
    this.#choose(target);
    this.#tabs[target]?.focus();
  }
}

function drawPanel(
  { tool, name, warnings, blocks, notes }: AdapterTool,
  words: AdapterStart['words'],
  copies: CopyButtons,
): HTMLElement {
  const commands = blocks.map(({ title, text, hint }) =>
    element('div', {}, [
      element('div', { class: 'blockHead' }, [
        element('h3', { text: title }),
        copies.make(`${name}, ${title}`, text, 'secondary'),
      ]),
      element('pre', { attributes: { tabindex: '0', role: 'group', 'aria-label': title } }, [
        element('code', { text }),
      ]),
      ...(hint === undefined ? [] : [element('p', { class: 'note', text: hint })]),
    ]),
  );
  return element(
    'div',
    {
      class: 'panel',
      attributes: { role: 'tabpanel', id: `panel-${tool}`, 'aria-labelledby': `tab-${tool}` },
    },
    [
      ...(warnings.length > 0 ? [drawNotes(warnings, words)] : []),
      ...commands,
      ...(notes.length > 0 ? [drawNotes(notes, words)] : []),
    ],
  );
}
