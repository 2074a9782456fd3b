import * as vscode from 'vscode';
import { formatBytes, formatCount, formatMoney, formatPrice, formatTime } from '../shared/format.ts';
import { missingText, wholeText, type DetailsState } from './pageMessages.ts';
import { harmlessText } from '../shared/strangerText.ts';

/** A fact of the page; `copy` is what its button copies. */
export interface PageFact {
  key: string;
  name: string;
  value: string;
  copy?: string;
}

export interface MoneyView {
  priceCents: number | undefined;
  /** Told with the price by the receipt; the details name none. */
  toldCurrency: string | undefined;
  /** That of the account's balance. */
  balanceCurrency: string | undefined;
  plan: string | undefined;
  effect:
    { beforeCents: number; afterCents: number; currency: string; otherCents: number | undefined } | undefined;
  isFromHere: boolean;
  details: DetailsState;
}

export function moneyFacts(view: MoneyView): PageFact[] {
  const { l10n } = vscode;
  const { priceCents, toldCurrency, balanceCurrency, plan, effect, isFromHere, details } = view;
  const price =
    priceCents === undefined
      ? missingText(details)
      : toldCurrency === undefined
        ? formatPrice(priceCents, balanceCurrency)
        : formatMoney(priceCents, toldCurrency);
  const facts = [
    { key: 'price', name: l10n.t('Price'), value: price },
    { key: 'plan', name: l10n.t('Plan'), value: plan === undefined ? missingText(details) : wholeText(plan) },
  ];
  if (effect === undefined)
    return isFromHere
      ? [...facts, { key: 'effect', name: l10n.t('Balance effect'), value: missingText('read') }]
      : facts;
  const { beforeCents, afterCents, currency, otherCents } = effect;
  facts.push({
    key: 'effect',
    name: l10n.t('Balance effect'),
    value: l10n.t(
      '{0} before, {1} after',
      formatMoney(beforeCents, currency),
      formatMoney(afterCents, currency),
    ),
  });
  if (otherCents !== undefined && otherCents !== 0)
    facts.push({
      key: 'other',
      name: l10n.t('Beside the price'),
      value: l10n.t(
        '{0}: something else was charged or added between the two',
        formatMoney(otherCents, currency),
      ),
    });
  return facts;
}

/** What stands below the price of a run that may have ended in whatever way. */
export function chargedNote(): string {
  return vscode.l10n.t('The price was charged when the run was submitted.');
}

export interface RunView {
  runId: string;
  link: string;
  modelId: string;
  modelName: string;
  /** As the service has it, the marker included; undefined where it is not known. */
  label: string | undefined;
  details: DetailsState;
  /** The part of it that the extension added. */
  hasMarker: boolean;
  /** As the list spells it, and the details where those are read. */
  statuses: readonly string[];
  priority: boolean | undefined;
  idempotencyKey: string | undefined;
  attempts: number;
}

export function runPageFacts(view: RunView): PageFact[] {
  const { l10n } = vscode;
  const { runId, link, modelId, modelName, priority, idempotencyKey } = view;
  return [
    {
      key: 'model',
      name: l10n.t('Model'),
      value: modelName === modelId ? wholeText(modelId) : `${wholeText(modelName)} (${wholeText(modelId)})`,
    },
    { key: 'label', name: l10n.t('Label'), value: labelText(view) },
    {
      key: 'status',
      name: l10n.t('Status'),
      value: statusText(view.statuses.map((one) => wholeText(one) || l10n.t('unknown'))),
    },
    ...(priority === undefined
      ? []
      : [
          {
            key: 'priority',
            name: l10n.t('Queue'),
            value: priority ? l10n.t('Priority queue') : l10n.t('Standard queue'),
          },
        ]),
    { key: 'run', name: l10n.t('Run id'), value: wholeText(runId), copy: runId },
    { key: 'link', name: l10n.t('Link to this page'), value: link, copy: link },
    ...(idempotencyKey === undefined
      ? []
      : [
          {
            key: 'attempts',
            name: l10n.t('Attempts'),
            value: formatCount(Math.max(1, view.attempts)),
          },
          { key: 'idempotency', name: 'Idempotency-Key', value: idempotencyKey, copy: idempotencyKey },
        ]),
  ];
}

function statusText([inList = '', inDetails]: readonly string[]): string {
  return inDetails === undefined || inDetails === inList
    ? inList
    : vscode.l10n.t('{0} in the details, {1} in the list', inDetails, inList);
}

function labelText({ label, hasMarker, details }: RunView): string {
  const { l10n } = vscode;
  // The list has no labels.
  if (label === undefined && details !== 'read') return missingText(details);
  if (label === undefined || label === '') return l10n.t('none');
  const text = wholeText(label);
  return hasMarker ? l10n.t('{0} (includes the marker that identifies the run)', text) : text;
}

export interface DatasetView {
  path: string;
  filename: string;
  sizeBytes: number;
  sha256: string;
  rows?: number | undefined;
  /** Undefined while the disk is looked at. */
  state: 'same' | 'written' | 'changed' | 'gone' | undefined;
}

export function datasetFacts({ path, sizeBytes, sha256, rows, state }: DatasetView): PageFact[] {
  const { l10n } = vscode;
  return [
    { key: 'path', name: l10n.t('File'), value: harmlessText(path), copy: path },
    ...(state === undefined ? [] : [{ key: 'now', name: l10n.t('Now'), value: stateText(state) }]),
    {
      key: 'rows',
      name: l10n.t('Rows'),
      value: rows === undefined ? l10n.t('not counted: the file was not checked') : formatCount(rows),
    },
    { key: 'size', name: l10n.t('Size'), value: formatBytes(sizeBytes) },
    { key: 'sha256', name: 'SHA-256', value: sha256, copy: sha256 },
  ];
}

function stateText(state: NonNullable<DatasetView['state']>): string {
  const { l10n } = vscode;
  switch (state) {
    case 'same':
      return l10n.t('unchanged since, by its size and time');
    case 'written':
      return l10n.t('written to since: its size is the same, but it may hold other rows');
    case 'changed':
      return l10n.t('changed since: it has another size');
    case 'gone':
      return l10n.t('not there any more');
  }
}

export interface ConsentsView {
  terms: { acceptedAt: string; addresses: readonly string[] };
  dataPolicy: { acceptedAt: string };
}

export function consentFacts({ terms, dataPolicy }: ConsentsView): PageFact[] {
  const { l10n } = vscode;
  // Both are kept in the order in which the consent showed them; one alone may be either.
  const names =
    terms.addresses.length === 2
      ? [l10n.t('Address of the license terms'), l10n.t('Address of the use policy')]
      : [];
  const shown = l10n.t('Address that was shown');
  return [
    {
      key: 'terms',
      name: l10n.t('Terms of the model’s provider'),
      value: l10n.t('accepted {0}', formatTime(terms.acceptedAt)),
    },
    ...terms.addresses.map((address, index) => ({
      key: `address:${index}`,
      name: names[index] ?? shown,
      value: harmlessText(address),
      copy: address,
    })),
    ...(terms.addresses.length > 0 ? [] : [{ key: 'address', name: shown, value: l10n.t('none') }]),
    {
      key: 'data-policy',
      name: l10n.t('Data policy of the service'),
      value: l10n.t('accepted {0}', formatTime(dataPolicy.acceptedAt)),
    },
  ];
}

/** What stands in place of dataset and consents. */
export function noReceiptNote(): string {
  return vscode.l10n.t(
    'There is no receipt of this run here: its dataset and consents are known where it was submitted from.',
  );
}
