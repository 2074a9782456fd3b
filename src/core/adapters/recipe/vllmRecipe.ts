import { applicability, baseBlockers, hasDora, initWarnings } from './blockers.ts';
import { lines, posixBlock, wslPath } from './shells.ts';
import { baseTraps, placeholdersOf, type RecipeFacts } from './recipeFacts.ts';
import type { Recipe, TrapCode } from '../report.ts';
import { hasScalesOfItsOwn } from './scaleCorrection.ts';

/** vllm-project/vllm vllm/config/lora.py, `MaxLoRARanks`, without 1, which not all versions have. */
const MAX_RANKS: readonly number[] = [8, 16, 32, 64, 128, 256, 320, 512];
/** Same place, `max_lora_rank`. */
const DEFAULT_MAX_RANK = 16;
/** vllm/lora/peft_helper.py: heads of classifiers are the only modules that may be stored whole. */
const SAVED_ALLOWED: readonly string[] = ['classifier', 'score'];

/**
 * vllm-project/vllm docs/features/lora.md: `vllm serve <base> --enable-lora --lora-modules <name>=<path>`, the form with
 * JSON, `--max-lora-rank`, and the request that names the adapter as `model`.
 */
export function vllmRecipe(facts: RecipeFacts): Recipe {
  const { report, base, name, shells, revision } = facts;
  const folder = shells.isWindows ? wslPath(facts.folder) : facts.folder;
  const { config, weights } = report;
  // It compares all that the config names, though no module may have that rank.
  const ranks = [weights?.maxRank, config?.rank, ...Object.values(config?.rankPattern ?? {})];
  const rank = ranks.reduce<number>((most, one = 0) => Math.max(most, one), 0);
  const maxRank = MAX_RANKS.find((allowed) => allowed >= rank);
  // The short form is read as such only without a comma, and is cut at each equals sign.
  const module = /[=,]/.test(folder) ? JSON.stringify({ name, path: folder }) : `${name}=${folder}`;
  const request = JSON.stringify({ model: name, messages: [{ role: 'user', content: 'PROMPT' }] });
  const blocked = blockedBy(facts, maxRank);
  return {
    tool: 'vllm',
    blocks: [
      posixBlock(
        'serve',
        (shell) =>
          lines(
            shell,
            `vllm serve ${shell.quote(base)}`,
            ...(revision === undefined ? [] : [`--revision ${shell.quote(revision)}`]),
            '--enable-lora',
            ...(rank > DEFAULT_MAX_RANK && maxRank !== undefined ? [`--max-lora-rank ${maxRank}`] : []),
            `--lora-modules ${shell.quote(module)}`,
          ),
        placeholdersOf(facts),
      ),
      posixBlock(
        'request',
        (shell) =>
          lines(
            shell,
            'curl http://localhost:8000/v1/chat/completions',
            '-H "Content-Type: application/json"',
            `-d ${shell.quote(request)}`,
          ),
        ['PROMPT'],
      ),
    ],
    warnings: [
      ...blocked,
      ...(shells.isWindows ? (['vllm-not-on-windows'] as const) : []),
      ...initWarnings(config),
      ...(hasScalesOfItsOwn(report) ? (['vllm-patterns'] as const) : []),
    ],
    traps: [
      ...(rank > DEFAULT_MAX_RANK && maxRank !== undefined ? (['vllm-rank'] as const) : []),
      'vllm-model-name',
      ...baseTraps(facts),
      'chat-template',
    ],
    ...applicability(blocked),
  };
}

/** What its loader refuses (vllm/lora/peft_helper.py), and what older ones load wrongly. */
function blockedBy({ report }: RecipeFacts, maxRank: number | undefined): TrapCode[] {
  const { config, weights } = report;
  const saved = [...(config?.modulesToSave ?? []), ...(weights?.savedModules ?? [])].map(
    (path) => path.split('.').at(-1) ?? path,
  );
  const traps = baseBlockers(config, 'vllm-alora');
  if (maxRank === undefined) traps.push('vllm-rank-too-large');
  if (saved.some((module) => !SAVED_ALLOWED.includes(module))) traps.push('vllm-modules-to-save');
  if (hasDora(report)) traps.push('vllm-dora');
  if (weights?.hasBias === true || (config !== undefined && (config.bias !== 'none' || config.loraBias)))
    traps.push('vllm-bias');
  return traps;
}
