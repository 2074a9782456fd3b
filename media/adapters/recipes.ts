import type {
  AdapterNote,
  AdapterRecipes,
  AdapterTool,
  AdapterWord,
} from '../../src/ui/adapters/protocol.ts';
import { button, element, icon } from '../shared/dom.ts';
import type { CopyButtons } from './copyButtons.ts';
import { drawFacts, drawNotes } from './overview.ts';

type Words = Readonly<Record<AdapterWord, string>>;

/** The recipes, one tab for each tool. */
export class RecipeTabs {
  readonly #recipes: AdapterRecipes;
  readonly #words: Words;
  readonly #copies: CopyButtons;
  readonly #on: { onTool: (tool: string) => void; onUnpack: (elsewhere: boolean) => void };
  readonly #tabs: HTMLButtonElement[];
  readonly #panels: HTMLElement[];

  /** @param chosen the tool that is shown first */
  constructor(
    recipes: AdapterRecipes,
    words: Words,
    copies: CopyButtons,
    chosen: string | undefined,
    on: { onTool: (tool: string) => void; onUnpack: (elsewhere: boolean) => void },
  ) {
    this.#recipes = recipes;
    this.#words = words;
    this.#copies = copies;
    this.#on = on;
    this.#tabs = recipes.tools.map(({ tool, name }, index) =>
      button(name, () => this.#choose(index), {
        class: 'tab',
        key: `tab ${tool}`,
        attributes: { role: 'tab', id: `tab-${tool}`, 'aria-controls': `panel-${tool}` },
      }),
    );
    this.#panels = recipes.tools.map((tool) => this.#drawPanel(tool));
    const known = recipes.tools.findIndex(({ tool }) => tool === chosen);
    this.#show(Math.max(0, known));
  }

  /** @param work shows how far the unpacking is */
  draw(work: HTMLElement): HTMLElement[] {
    const { packed, folder } = this.#recipes;
    const drawn: HTMLElement[] = [];
    if (packed !== undefined)
      drawn.push(
        element('div', { class: 'packed' }, [
          element('p', { text: packed.text }),
          element('p', { class: 'actions' }, [
            button(packed.unpack, () => this.#on.onUnpack(false), { class: 'primary begins', key: 'unpack' }),
            button(packed.elsewhere, () => this.#on.onUnpack(true), {
              class: 'secondary begins',
              key: 'elsewhere',
            }),
          ]),
        ]),
      );
    drawn.push(work);
    if (folder !== undefined) drawn.push(drawFacts([folder], this.#copies));
    const list = element(
      'div',
      { class: 'tabs', attributes: { role: 'tablist', 'aria-label': this.#words.tools } },
      this.#tabs,
    );
    list.addEventListener('keydown', (event) => this.#move(event));
    return [...drawn, list, ...this.#panels];
  }

  #choose(index: number): void {
    this.#show(index);
    const tool = this.#recipes.tools[index];
    if (tool !== undefined) this.#on.onTool(tool.tool);
  }

  #show(index: number): void {
    this.#tabs.forEach((tab, other) => {
      tab.setAttribute('aria-selected', String(other === index));
      tab.setAttribute('tabindex', other === index ? '0' : '-1');
    });
    this.#panels.forEach((panel, other) => (panel.hidden = other !== index));
  }

  #move(event: KeyboardEvent): void {
    const last = this.#tabs.length - 1;
    const at = this.#tabs.findIndex((tab) => tab === document.activeElement);
    const targets: Readonly<Record<string, number>> = {
      ArrowLeft: at === 0 ? last : at - 1,
      ArrowRight: at === last ? 0 : at + 1,
      Home: 0,
      End: last,
    };
    const target = targets[event.key];
    if (at < 0 || target === undefined) return;
    event.preventDefault();
    this.#choose(target);
    this.#tabs[target]?.focus();
  }

  #drawPanel({ tool, name, refusal, warnings, blocks, traps }: AdapterTool): HTMLElement {
    const drawn: HTMLElement[] = [];
    if (refusal !== undefined)
      drawn.push(element('p', { class: 'told' }, [icon('error'), element('span', { text: refusal })]));
    if (warnings.length > 0) drawn.push(drawNotes(notesOf('warning', warnings), this.#words));
    for (const [index, { title, text, hint }] of blocks.entries())
      drawn.push(
        element('div', { class: 'block' }, [
          element('div', { class: 'blockHead' }, [
            element('h3', { text: title }),
            this.#copies.make(`${tool} ${index}`, `${name}, ${title}`, text, 'secondary'),
          ]),
          element('pre', { attributes: { tabindex: '0', role: 'group', 'aria-label': title } }, [
            element('code', { text }),
          ]),
          ...(hint === undefined ? [] : [element('p', { class: 'note', text: hint })]),
        ]),
      );
    if (traps.length > 0) drawn.push(drawNotes(notesOf('info', traps), this.#words));
    return element(
      'div',
      {
        class: 'panel',
        attributes: { role: 'tabpanel', id: `panel-${tool}`, 'aria-labelledby': `tab-${tool}` },
      },
      drawn,
    );
  }
}

function notesOf(severity: AdapterNote['severity'], texts: readonly string[]): AdapterNote[] {
  return texts.map((text) => ({ severity, text, examples: [], more: undefined }));
}
