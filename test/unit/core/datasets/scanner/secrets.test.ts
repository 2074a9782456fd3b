import assert from 'node:assert/strict';
import { problemsOf, useChecker } from '../../../../helpers/checker.ts';

/** The tail of a key: letters and digits. */
const tail = (length: number, of = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8x') => of.repeat(10).slice(0, length);
const upper = (length: number) => tail(length, 'A2B4C6D8E1F3G5');

/** One of each kind of key; the third has only letters, as about one key in a hundred does. */
const keys = [
  ...[`service_${tail(24)}`, `service_live-${tail(16)}`],
  ...[
    'service_qRtZpLmWxKcVbNhGfDsAyUiO',
    `sk-${tail(20)}`,
    `sk-proj-${tail(40)}_x`,
    `sk-ant-api03-${tail(30)}`,
  ],
  ...[`AKIA${upper(16)}`, `ASIA${upper(16)}`, `AIza${tail(35)}`, `github_pat_${tail(22)}_${tail(59)}`],
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'npm_'].map((prefix) => prefix + tail(36)),
  ...[`glpat-${tail(20)}`, `hf_${tail(34)}`, `pypi-${tail(60)}`, `SG.${tail(22)}.${tail(43)}`],
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-'].map((prefix) => `${prefix}123456789012-${tail(24)}`),
  ...['sk_live_', 'rk_live_', 'sk_test_'].map((prefix) => prefix + tail(24)),
  ...[`dop_v1_${tail(64)}`, `AccountKey=${tail(86)}==`],
];
const privateKeys = ['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED ', 'PGP '].map(
  (kind) => `-----BEGIN ${kind}PRIVATE KEY`,
);
const emails = 'me@home.test first.last+tag@mail.some-host.co.test A_b%c@x1.test 7@q.test'.split(' ');
const cards = [
  ...'4111111111111111 4111-1111-1111-1111 5555555555554444 2223003122003222 6011111111111117'.split(' '),
  ...'378282246310005 30569309025904 3530111333300000 4222222222222 4000000000000000006'.split(' '),
  ...['4111 1111 1111 1111', '3782 822463 10005', '3056 930902 5904'],
];
const secrets = Object.entries({
  'api-key': keys,
  'private-key': privateKeys,
  'email-address': emails,
  'card-number': cards,
}).flatMap(([code, texts]) => texts.map((text) => ({ code, text })));

/** Text that resembles secrets. */
const harmless = [
  ...'service_account_credentials_v2 service_AccountManagerFactoryProvider service_ service_ab3'.split(' '),
  ...'service_accountmanagerfactoryprovider service_client_2_connection_pool'.split(' '),
  ...['myservice_', 'task-', 'disk-'].map((word) => word + tail(24)),
  ...'sk-learn-estimators-html-repr-v1 sk-container-id-1-sk-text-repr-fallback sk-…'.split(' '),
  ...[`AKIA${upper(15)}`, `XAKIA${upper(16)}`, `akia${upper(16)}`, 'AKIAAAAAAAAAAAAAAAAA', `AIza${tail(34)}`],
  ...[`ghp_${tail(35)}`, `xghp_${tail(36)}`, `a\\\\nghp_${tail(36)}`],
  ...'npm_config_user_agent_and_some_more_words hf_hub_download_from_a_repository_1 AccountKey=short'.split(
    ' ',
  ),
  ...['-----BEGIN PUBLIC KEY-----', '-----BEGIN CERTIFICATE-----', '----BEGIN PRIVATE KEY'],
  ...'package@1.2.3 @scope/name me@ @me.test me@localhost me@example.com You@Mail.Example.ORG a@b.c'.split(
    ' ',
  ),
  ...'a@mail.example.net a@.com a@b..com @decorator.call x@y.1a'.split(' '),
  `${'x'.repeat(70)}@home.test`,
  ...'4111111111111112 41111111111111111 411111111111 14111111111111111 x4111111111111111'.split(' '),
  ...'4111111111111111x 0.4111111111111111 4111111111111111.5 _4111111111111111 e4111111111111111e'.split(
    ' ',
  ),
  ...['4111  1111 1111 1111', '4111 1111 1111 111', '4111 11111111 1111', '2026-11-21 00:49:14'],
  ...'9111111111111111 1700000000000 378282246310006 7992739871399273987134 3.141592653589793238'.split(' '),
  ...'da39a3ee5e6b4b0d3255bfef95601890afd80709 550e8400-e29b-41d4-a716-446655440000'.split(' '),
  'a\\\\u00e94111111111111111',
];

describe('secrets in rows', () => {
  const { check } = useChecker();

  /** Returns the secrets found, by row. */
  async function foundIn(rows: readonly string[]) {
    const report = await check(rows.join('\n'));
    assert.equal(report.rows, rows.length);
    return Map.groupBy(
      problemsOf(report).filter((problem) => problem.class === 'privacy'),
      ({ row }) => row,
    );
  }

  /** Asserts that each secret is found in place of `#` in each frame. */
  async function findAll(frames: readonly string[]): Promise<void> {
    const cases = secrets.flatMap(({ code, text }) => frames.map((frame) => ({ code, text, frame })));
    const rows = cases.map(({ frame, text }) => frame.replace('#', text));
    const found = await foundIn(rows);
    for (const [index, { code, text, frame }] of cases.entries()) {
      const problems = (found.get(index + 1) ?? []).map(({ code, column, length }) => [code, column, length]);
      assert.deepEqual(problems, [[code, frame.indexOf('#') + 1, text.length]], rows[index]);
    }
  }

  it('are found in common contexts, and on their own', () =>
    findAll(
      [
        ...['"#"', '"key: #, or"', '"(#)"', '"=#\\""', '"\'#\'"', '"é#é"', '"模型#"'],
        ...['"a\\n#\\nb"', '"a\\t#\\\\"', '"a\\\\\\n#\\r"', '"\\u00e9#\\u00e9"', '"\\uff1a#"', '"\\u53f7#"'],
      ]
        .map((text) => `{"text":${text}}`)
        .concat('#'),
    ));

  it('are found at every position in a block of 16 bytes', () =>
    findAll(Array.from({ length: 17 }, (_, length) => `{"text":"${' '.repeat(length)}#"}`)));

  it('are found as the only bytes of a file', async () => {
    for (const { code, text } of secrets) {
      const found = problemsOf(await check(text)).filter((problem) => problem.class === 'privacy');
      assert.deepEqual(
        found.map(({ code, offset, length }) => [code, offset, length]),
        [[code, 0, text.length]],
        text,
      );
    }
  });

  it('are not found in similar text, or across two rows', async () => {
    // A part of an email address or of some keys is itself a secret.
    const joined = secrets.filter(({ code, text }) => code !== 'email-address' && !/proj|pat/.test(text));
    const rows = [
      ...harmless.flatMap((text) => [`{"text":"${text}"}`, `{"text":"a ${text} b"}`, text]),
      ...joined.flatMap(({ text }) => {
        const middle = Math.min(Math.ceil(text.length / 2), 10);
        return [text.slice(0, middle), text.slice(middle)];
      }),
      ...['{"text":"me@', 'home.test"}', 'someone', '@home.test'],
    ];
    const found = await foundIn(rows);
    assert.deepEqual(
      [...found.keys()].map((row) => rows[row - 1]),
      [],
    );
  });

  it('are located if a row has many, with lone CRs between them', async () => {
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

  it('are masked beyond use', async () => {
    const masked = [
      ['service_aB3dE5gH7jK9mN1pQ2rS4tU6', 'service_…'],
      ['4111 1111 1111 1111', '…1111'],
      ['first.last@mail.host.test', 'f…@m….test'],
    ] as const;
    const rows = [...masked.map(([text]) => text), ...secrets.map(({ text }) => text)];
    const found = await foundIn(rows);
    const details = rows.map((_, index) => found.get(index + 1)?.[0]?.detail ?? '');
    assert.deepEqual(
      details.slice(0, masked.length),
      masked.map(([, detail]) => detail),
    );
    for (const [index, { code, text }] of secrets.entries()) {
      const detail = details[masked.length + index]!;
      assert.ok(detail !== '', text);
      if (code === 'private-key') continue;
      const end = code === 'card-number' ? text.replace(/\D/g, '').slice(-5) : text.slice(-6);
      assert.ok(!detail.includes(end), `${detail} for ${text}`);
      assert.ok(detail.replaceAll('…', '').length <= Math.max(8, text.length / 2), `${detail} for ${text}`);
    }
  });
});
