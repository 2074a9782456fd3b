import type {
  RunPageArtifacts,
  RunPageButton,
  RunPageClock,
  RunPageDuration,
  RunPageEntry,
  RunPageFact,
  RunPageHeading,
  RunPageNotice,
  RunPageSection,
  RunPageState,
} from '../../src/ui/runs/protocol.ts';
import { copyButton, element, icon } from '../shared/dom.ts';

/** Draws the page as it is to be. */
export function drawPage({ heading, notices, actions, sections, words }: RunPageState): HTMLElement[] {
  return [
    drawHeading(heading),
    element(
      'div',
      {
        class: 'actions',
        attributes: { 'data-key': 'actions', role: 'group', 'aria-label': words.actions },
      },
      actions.map((one) => drawButton(one)),
    ),
    // Below the buttons, which would slide when a notice comes or goes.
    element('div', { class: 'notices', attributes: { 'data-key': 'notices' } }, notices.map(drawNotice)),
    element('div', { class: 'sections', attributes: { 'data-key': 'sections' } }, sections.map(drawSection)),
  ];
}

function drawHeading({ title, phase, status, lines }: RunPageHeading): HTMLElement {
  return element('header', { attributes: { 'data-key': 'heading' } }, [
    element('h1', { text: title }),
    // Announced when it changes; everything else is silent.
    element('p', { class: `status ${phase}`, text: status, attributes: { role: 'status' } }),
    ...lines.map((text) => element('p', { class: 'note', text })),
  ]);
}

function drawNotice({ key, kind, text, buttons }: RunPageNotice): HTMLElement {
  return element('div', { class: `notice ${kind}`, attributes: { 'data-key': key, role: 'status' } }, [
    ...(kind === 'info' ? [] : [icon(kind)]),
    element('span', { text }),
    ...buttons.map((one) => drawButton(one)),
  ]);
}

/** What it does stands in its attributes: the page has one listener for all. */
function drawButton(button: RunPageButton, isLink = false): HTMLElement {
  const { action, key, copy, words, spoken, isFirst, isDisabled } = button;
  if (copy !== undefined)
    return copyButton(copy, `copy ${key}`, words, spoken, isLink ? 'link' : 'secondary');
  return element('button', {
    class: isLink ? 'link' : isFirst ? 'first' : 'secondary',
    text: words,
    attributes: {
      type: 'button',
      'data-key': `${action} ${key}`,
      'data-action': action,
      'data-about': key,
      'aria-label': spoken,
      // Not `disabled`, which would take the focus away.
      'aria-disabled': isDisabled ? 'true' : undefined,
    },
  });
}

function drawSection(section: RunPageSection): HTMLElement {
  return element(
    'section',
    {
      class: section.kind,
      attributes: { 'data-key': section.key, 'aria-labelledby': `title-${section.key}` },
    },
    [
      element('h2', { text: section.title, attributes: { id: `title-${section.key}` } }),
      ...drawInner(section),
    ],
  );
}

function drawInner(section: RunPageSection): HTMLElement[] {
  switch (section.kind) {
    case 'timeline':
      return [element('ol', {}, section.entries.map(drawEntry))];
    case 'durations':
      return [
        ...section.items.map(drawDuration),
        element('p', { class: 'note', text: section.note }),
        ...section.buttons.map((one) => drawButton(one)),
      ];
    case 'facts':
      return [
        element('dl', {}, section.facts.flatMap(drawFact)),
        ...(section.note === undefined ? [] : [element('p', { class: 'note', text: section.note })]),
      ];
    case 'artifacts':
      return drawArtifacts(section);
  }
}

function drawEntry({ key, state, name, when, iso, notes, clock }: RunPageEntry): HTMLElement {
  return element('li', { class: state, attributes: { 'data-key': key } }, [
    element('span', { class: 'name', text: name }),
    element('span', { class: 'when' }, [
      iso === undefined
        ? element('span', { text: when })
        : element('time', { text: when, attributes: { datetime: iso } }),
      ...drawClock(clock),
    ]),
    ...notes.map((text) => element('span', { class: 'note', text })),
  ]);
}

/** Filled in by the clocks, and never announced by itself. */
function drawClock(clock: RunPageClock | undefined): HTMLElement[] {
  return clock === undefined
    ? []
    : [
        element('span', {
          class: 'clock',
          attributes: {
            'data-key': `clock ${clock}`,
            'data-clock': clock,
            role: 'timer',
            'aria-live': 'off',
          },
        }),
      ];
}

function drawDuration({ key, name, value, clock, comparison, bars, picture }: RunPageDuration): HTMLElement {
  const drawn = element('div', { class: 'duration', attributes: { 'data-key': key } }, [
    element('h3', { text: name }),
    element('p', { class: 'value', attributes: { 'data-key': 'value' } }, [
      element('span', { text: value }),
      ...drawClock(clock),
    ]),
    element('p', { text: comparison, attributes: { 'data-key': 'comparison' } }),
  ]);
  if (bars.length > 0)
    drawn.append(
      element(
        'div',
        {
          class: 'bars',
          attributes: { 'data-key': 'bars', role: 'img', 'aria-label': picture, title: picture },
        },
        bars.map(({ share, isThis }) => {
          const bar = element('span', { class: 'bar', attributes: { 'data-this': isThis ? '' : undefined } });
          bar.style.height = `max(2px, ${share * 100}%)`;
          return bar;
        }),
      ),
    );
  return drawn;
}

function drawFact({ key, name, value, buttons }: RunPageFact): HTMLElement[] {
  return [
    element('dt', { text: name, attributes: { 'data-key': `name ${key}` } }),
    element('dd', { attributes: { 'data-key': `value ${key}` } }, [
      element('span', { text: value }),
      ...buttons.flatMap((one) => [element('span', { class: 'gap' }), drawButton(one, true)]),
    ]),
  ];
}

function drawArtifacts({ text, clock, downloads, files }: RunPageArtifacts): HTMLElement[] {
  return [
    element('p', { attributes: { 'data-key': 'text' } }, [element('span', { text }), ...drawClock(clock)]),
    ...downloads.map(({ key, name, text: state, fraction, isBusy, buttons }) =>
      element('div', { class: 'file', attributes: { 'data-key': `download ${key}` } }, [
        element('p', { class: 'name', text: name }),
        ...(isBusy || fraction !== undefined
          ? [
              element('progress', {
                attributes: { max: '1', value: fraction?.toString(), 'aria-label': name },
              }),
            ]
          : []),
        element('p', { class: 'note', text: state }),
        drawButtons(buttons),
      ]),
    ),
    ...files.map(({ key, name, lines, path, isGone, buttons }) =>
      element(
        'div',
        { class: 'file', attributes: { 'data-key': `file ${key}`, 'data-gone': isGone ? '' : undefined } },
        [
          element('p', { class: 'name', text: name }),
          element('p', { class: 'path', text: path }),
          ...lines.map((line) => element('p', { class: 'note', text: line })),
          drawButtons(buttons),
        ],
      ),
    ),
  ];
}

function drawButtons(buttons: readonly RunPageButton[]): HTMLElement {
  return element(
    'div',
    { class: 'actions' },
    buttons.map((one) => drawButton(one)),
  );
}
