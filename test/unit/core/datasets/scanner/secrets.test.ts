import assert from 'node:assert/strict';
import { problemsOf, useChecker } from '../../../../helpers/checker.ts';

/** A tail without a meaning, of letters and digits. */
const tail = (length: number, of = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8x') => of.repeat(10).slice(0, length);
const upper = (length: number) => tail(length, 'A2B4C6D8E1F3G5');

/** One of each kind of key. */
const keys = [
  ...[
    `service_${tail(24)}`,
    `service_live-${tail(16)}`,
    // Letters alone, as one key in some hundred has them.
    'service_qRtZpLmWxKcVbNhGfDsAyUiO',
    `sk-${tail(20)}`,
    `sk-proj-${tail(40)}_x`,
    `sk-ant-api03-${tail(30)}`,
  ],
  ...[`AKIA${upper(16)}`, `ASIA${upper(16)}`, `AIza${tail(35)}`],
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'npm_'].map((prefix) => prefix + tail(36)),
  ...[
    `github_pat_${tail(22)}_${tail(59)}`,
    `glpat-${tail(20)}`,
    `hf_${tail(34)}`,
    `pypi-${tail(60)}`,
    `SG.${tail(22)}.${tail(43)}`,
  ],
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-'].map((prefix) => `${prefix}123456789012-${tail(24)}`),
  ...['sk_live_', 'rk_live_', 'sk_test_'].map((prefix) => prefix + tail(24)),
  ...[`dop_v1_${tail(64)}`, `AccountKey=${tail(86)}==`],
];
const privateKeys = ['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED ', 'PGP '].map(
  (kind) => `-----BEGIN ${kind}PRIVATE KEY`,
);
const emails = ['me@home.test', 'first.last+tag@mail.some-host.co.test', 'A_b%c@x1.test', '7@q.test'];
const cards = [
  ...[
    '4111111111111111',
    '4111 1111 1111 1111',
    '4111-1111-1111-1111',
    '5555555555554444',
    '2223003122003222',
    '6011111111111117',
  ],
  ...[
    '378282246310005',
    '3782 822463 10005',
    '30569309025904',
    '3056 930902 5904',
    '3530111333300000',
    '4222222222222',
    '4000000000000000006',
  ],
];
const secrets: [code: string, text: string][] = [
  ...keys.map((text): [string, string] => ['api-key', text]),
  ...privateKeys.map((text): [string, string] => ['private-key', text]),
  ...emails.map((text): [string, string] => ['email-address', text]),
  ...cards.map((text): [string, string] => ['card-number', text]),
];

/** What looks like a secret and is none. */
const harmless = [
  ...[
    'service_account_credentials_v2',
    'service_AccountManagerFactoryProvider',
    'service_accountmanagerfactoryprovider',
    'service_client_2_connection_pool',
    'service_',
    'service_ab3',
    `myservice_${tail(24)}`,
  ],
  ...[
    'sk-learn-estimators-html-repr-v1',
    `task-${tail(24)}`,
    `disk-${tail(24)}`,
    'sk-container-id-1-sk-text-repr-fallback',
    'sk-…',
  ],
  ...[`AKIA${upper(15)}`, `XAKIA${upper(16)}`, `akia${upper(16)}`, 'AKIAAAAAAAAAAAAAAAAA', `AIza${tail(34)}`],
  ...[
    `ghp_${tail(35)}`,
    `xghp_${tail(36)}`,
    'npm_config_user_agent_and_some_more_words',
    'hf_hub_download_from_a_repository_1',
  ],
  ...[
    'AccountKey=short',
    '-----BEGIN PUBLIC KEY-----',
    '-----BEGIN CERTIFICATE-----',
    '----BEGIN PRIVATE KEY',
  ],
  ...[
    'package@1.2.3',
    '@scope/name',
    'me@',
    '@me.test',
    'me@localhost',
    'me@example.com',
    'You@Mail.Example.ORG',
    'a@b.c',
    'a@mail.example.net',
  ],
  ...['a@.com', 'a@b..com', `${'x'.repeat(70)}@home.test`, '@decorator.call', 'x@y.1a'],
  ...[
    '4111111111111112',
    '41111111111111111',
    '411111111111',
    '14111111111111111',
    'x4111111111111111',
    '4111111111111111x',
  ],
  ...[
    '0.4111111111111111',
    '4111111111111111.5',
    '_4111111111111111',
    '4111  1111 1111 1111',
    '4111 1111 1111 111',
    '4111 11111111 1111',
  ],
  ...[
    '9111111111111111',
    '1700000000000',
    '378282246310006',
    'da39a3ee5e6b4b0d3255bfef95601890afd80709',
    '7992739871399273987134',
  ],
  ...[
    `a\\\\nghp_${tail(36)}`,
    'a\\\\u00e94111111111111111',
    '550e8400-e29b-41d4-a716-446655440000',
    '3.141592653589793238',
    '2026-11-21 00:49:14',
    'e4111111111111111e',
  ],
];

describe('secrets in rows', () => {
  const { check } = useChecker();

  /** What is found in rows, each without its row's frame. */
  async function foundIn(rows: readonly string[]) {
    const report = await check(rows.join('\n'));
    assert.equal(report.rows, rows.length);
    return Map.groupBy(
      problemsOf(report).filter((problem) => problem.class === 'privacy'),
      ({ row }) => row,
    );
  }

  /** Finds each secret in each frame, in place of `#`. */
  async function findAll(frames: readonly string[]): Promise<void> {
    const cases = secrets.flatMap(([code, text]) =>
      frames.map((frame) => ({ code, text, row: frame.replace('#', text), frame })),
    );
    const found = await foundIn(cases.map(({ row }) => row));
    for (const [index, { code, text, row, frame }] of cases.entries()) {
      const problems = (found.get(index + 1) ?? []).map(({ code, column, length }) => ({
        code,
        column,
        length,
      }));
      assert.deepEqual(problems, [{ code, column: frame.indexOf('#') + 1, length: text.length }], row);
    }
  }

  it('are found in common surroundings', async () => {
    await findAll([
      ...[
        '{"text":"#"}',
        '{"text":"key: #, or"}',
        '{"text":"(#)"}',
        '{"text":"=#\\""}',
        '{"text":"\'#\'"}',
        '#',
        '{"text":"é#é"}',
        '{"text":"模型#"}',
      ],
      ...[
        '{"text":"a\\n#\\nb"}',
        '{"text":"a\\t#\\\\"}',
        '{"text":"a\\\\\\n#\\r"}',
        '{"text":"\\u00e9#\\u00e9"}',
        '{"text":"\\uff1a#"}',
        '{"text":"\\u53f7#"}',
      ],
    ]);
  });

  it('are found at every place of a block of sixteen bytes', () =>
    findAll(Array.from({ length: 17 }, (_, length) => `{"text":"${' '.repeat(length)}#"}`)));

  it('are found in the last row and the first, with nothing around', async () => {
    for (const [code, text] of secrets) {
      const [found, ...others] = problemsOf(await check(text)).filter(
        (problem) => problem.class === 'privacy',
      );
      assert.deepEqual(
        [found?.code, found?.offset, found?.length, others.length],
        [code, 0, text.length, 0],
        text,
      );
    }
  });

  it('are not seen in what looks like them', async () => {
    const rows = harmless.flatMap((text) => [`{"text":"${text}"}`, `{"text":"a ${text} b"}`, text]);
    const found = await foundIn(rows);
    assert.deepEqual(
      [...found.keys()].map((row) => rows[row - 1]),
      [],
    );
  });

  it('are not joined from two rows', async () => {
    const rows = secrets
      // Of an address the end is one as well.
      .filter(([code]) => code !== 'email-address')
      .flatMap(([, text]) => {
        const middle = Math.ceil(text.length / 2);
        return text.includes('proj') || text.includes('pat')
          ? []
          : [text.slice(0, Math.min(middle, 10)), text.slice(Math.min(middle, 10))];
      });
    const found = await foundIn(rows);
    assert.deepEqual(
      [...found.keys()].map((row) => rows[row - 1]),
      [],
    );
    assert.equal((await foundIn(['{"text":"me@', 'home.test"}', 'someone', '@home.test'])).size, 0);
  });

  it('are located, many in a row, with lone CRs between them', async () => {
    const one = keys[0]!;
    const row = `{"text":"é ${one} me@home.test \r ${cards[1]} me@home.test,${one}.${one}\r you@home.test"}`;
    const found = (await foundIn([row, row])).get(2) ?? [];
    const at = (text: string, from = 0) => row.indexOf(text, from);
    const breaks = [at('\r'), row.lastIndexOf('\r')] as const;
    assert.deepEqual(
      found.map(({ code, line, column }) => [code, line, column]),
      [
        ['api-key', 4, at(one) + 1],
        ['email-address', 4, at('me@') + 1],
        ['card-number', 5, at('4111') - breaks[0]],
        ['email-address', 5, row.lastIndexOf('me@') - breaks[0]],
        ['api-key', 5, at(one, breaks[0]) - breaks[0]],
        ['email-address', 6, at('you@') - breaks[1]],
      ],
    );
  });

  it('are masked so that they cannot be used', async () => {
    const found = await foundIn(secrets.map(([, text]) => text));
    for (const [index, [code, text]] of secrets.entries()) {
      const detail = found.get(index + 1)?.[0]?.detail ?? '';
      assert.ok(detail !== '', text);
      if (code === 'private-key') continue;
      const digits = text.replace(/\D/g, '');
      assert.ok(
        !detail.includes(code === 'card-number' ? digits.slice(-5) : text.slice(-6)),
        `${detail} for ${text}`,
      );
      const seen = code === 'card-number' ? detail.slice(1) : detail.replaceAll('…', '');
      assert.ok(seen.length <= Math.max(8, text.length / 2), `${detail} for ${text}`);
    }
    const [first] = (await foundIn([keys[0]!])).get(1) ?? [];
    assert.equal(first?.detail, 'service_…');
    assert.equal((await foundIn(['4111 1111 1111 1111'])).get(1)?.[0]?.detail, '…1111');
    assert.equal(
      (await foundIn(['first.last@mail.host.test'])).get(1)?.[0]?.detail,
      'f…@m…​.test'.replace('\u200b', ''),
    );
  });
});
