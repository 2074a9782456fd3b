import assert from 'node:assert/strict';

/** As much of an element as `morph` asks of one; it counts how often it is put somewhere. */
class Standing {
  static readonly ELEMENT_NODE = 1;
  readonly nodeType = 1;
  readonly nodeName: string;
  readonly style = { cssText: '' };
  readonly #attributes = new Map<string, string>();
  parent: Standing | undefined;
  childNodes: Standing[] = [];
  placed = 0;

  constructor(nodeName: string, key?: string, children: Standing[] = []) {
    this.nodeName = nodeName;
    if (key !== undefined) this.#attributes.set('data-key', key);
    for (const child of children) this.insertBefore(child, null);
  }

  get children(): Standing[] {
    return this.childNodes;
  }
  get attributes() {
    return [...this.#attributes].map(([name, value]) => ({ name, value }));
  }
  get firstChild(): Standing | null {
    return this.childNodes[0] ?? null;
  }
  get nextSibling(): Standing | null {
    const beside = this.parent?.childNodes ?? [];
    return beside[beside.indexOf(this) + 1] ?? null;
  }
  getAttribute(name: string): string | null {
    return this.#attributes.get(name) ?? null;
  }
  hasAttribute(name: string): boolean {
    return this.#attributes.has(name);
  }
  setAttribute(name: string, value: string): void {
    this.#attributes.set(name, value);
  }
  removeAttribute(name: string): void {
    this.#attributes.delete(name);
  }
  remove(): void {
    const beside = this.parent?.childNodes ?? [];
    beside.splice(beside.indexOf(this), 1);
    this.parent = undefined;
  }
  insertBefore(child: Standing, before: Standing | null): void {
    if (child.parent !== undefined) child.remove();
    const place = before === null ? this.childNodes.length : this.childNodes.indexOf(before);
    this.childNodes.splice(place, 0, child);
    child.parent = this;
    child.placed += 1;
  }
}

describe('what stands on the page of a run', () => {
  let morph: (from: Standing, to: Standing) => void;

  before(async () => {
    Object.assign(globalThis, { Node: Standing, HTMLElement: Standing });
    const file = new URL('../../../../media/shared/morph.ts', import.meta.url).href;
    ({ morph } = (await import(file)) as { morph: typeof morph });
  });
  after(() => {
    for (const name of ['Node', 'HTMLElement']) Reflect.deleteProperty(globalThis, name);
  });

  const list = (...keys: string[]) =>
    new Standing(
      'DIV',
      'list',
      keys.map((key) => new Standing('BUTTON', key)),
    );
  const keysOf = (node: Standing) => node.childNodes.map((child) => child.getAttribute('data-key'));

  for (const [what, before, after] of [
    ['something before it goes', ['a', 'b', 'c'], ['b', 'c']],
    ['all before it goes, and something else comes', ['a', 'b', 'c'], ['x', 'y', 'c']],
    ['something comes before and behind it', ['c'], ['a', 'c', 'd']],
    ['what is around it is another', ['a', 'c', 'b'], ['x', 'c', 'y']],
  ] as const)
    it(`stays where it is, so that the focus does, when ${what}`, () => {
      const from = list(...before);
      const stays = from.childNodes.find((child) => child.getAttribute('data-key') === 'c');
      morph(from, list(...after));
      assert.deepEqual(keysOf(from), after);
      assert.ok(stays !== undefined && from.childNodes.includes(stays));
      assert.equal(stays.placed, 1, 'it was moved');
    });

  it('comes in the order that is wanted', () => {
    const from = list('a', 'b', 'c', 'd');
    morph(from, list('d', 'b', 'e', 'a'));
    assert.deepEqual(keysOf(from), ['d', 'b', 'e', 'a']);
  });

  it('has the attributes that are wanted', () => {
    const from = list('a');
    const to = list('a');
    from.childNodes[0]?.setAttribute('old', '1');
    to.childNodes[0]?.setAttribute('new', '2');
    const [stays] = from.childNodes;
    morph(from, to);
    assert.equal(from.childNodes[0], stays);
    assert.deepEqual(stays?.attributes, [
      { name: 'data-key', value: 'a' },
      { name: 'new', value: '2' },
    ]);
  });
});
