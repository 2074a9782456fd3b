import assert from 'node:assert/strict';
import { encodeAnchors, encodePatterns, KEY_PATTERNS } from '../../../../../src/core/datasets/keyPatterns.ts';
import { countOf } from '../../../../../src/core/datasets/report.ts';
import { problemsOf, useChecker } from '../../../../helpers/checker.ts';
import { ESCAPING_WRITERS, written } from '../../../../helpers/jsonWriters.ts';
import { Random } from '../../../../helpers/random.ts';

/** The tail of a key: letters and digits. */
const tail = (length: number, of = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8x') => of.repeat(10).slice(0, length);
const upper = (length: number) => tail(length, 'A2B4C6D8E1F3G5');

/** A token of two objects and a signature. */
const token = (payload: object, signature = tail(43)) =>
  [{ alg: 'HS256', typ: 'JWT' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat(signature)
    .join('.');
const TOKEN = token({ user: 'ada', exp: 1_700_000_000 });

/** A key of each kind. The third has only letters, like about one key in a hundred. */
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
  ...['glpat-', 'gldt-', 'glrt-', 'glrt-t1_'].map((prefix) => prefix + tail(20)),
  ...[`glpat-${tail(27)}.01.${tail(9, 'a1b2c3')}`, `glpat-${tail(27)}.${tail(9, 'a1b2c3')}`],
  ...[`hf_${tail(34)}`, `pypi-${tail(60)}`, `SG.${tail(22)}.${tail(43)}`],
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxc-'].map(
    (prefix) => `${prefix}123456789012-${tail(24)}`,
  ),
  ...['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_'].map((prefix) => prefix + tail(24)),
  ...[`dop_v1_${tail(64)}`, `AccountKey=${tail(86)}==`],
  ...[`gsk_${tail(52)}`, `r8_${tail(37)}`, `lin_api_${tail(40)}`, `ntn_${tail(46)}`, `whsec_${tail(32)}`],
  ...['shpat_', 'shpca_', 'shppa_', 'shpss_'].map((prefix) => prefix + tail(32, 'a1b2c3d4e5f60798')),
  ...[`PMAK-${tail(24)}-${tail(34)}`, `pplx-${tail(48)}`, `xai-${tail(80)}`, `GOCSPX-${tail(28)}`],
  ...[`xapp-1-A0123456789-1234567890123-${tail(64)}`, `hvs.${tail(24)}`, `hvb.${tail(90)}`],
  ...[`hooks.slack.com/services/T0A1B2C3D4/B0A1B2C3D4/${tail(24)}`, `ya29.a0${tail(160)}`, TOKEN],
  `AGE-SECRET-KEY-1${upper(58)}`,
  ...[`xoxd-${tail(60)}%2F${tail(80)}%3D`, `nvapi-${tail(64)}`, `pcsk_${tail(6)}_${tail(63)}`],
  ...[
    `lsv2_pt_${tail(32)}_${tail(10)}`,
    `figd_${tail(40)}`,
    `sbp_${tail(40)}`,
    `glsa_${tail(32)}_${tail(8)}`,
  ],
  ...[`tskey-auth-${tail(12)}CNTRL-${tail(32)}`, `dckr_pat_${tail(27)}`, `rubygems_${tail(48)}`],
  ...[`sntrys_eyJ${tail(80)}==_${tail(20)}+/${tail(21)}`, `NRAK-${upper(27)}`],
  `ATATT3${tail(90)}-_${tail(90)}=${upper(8)}`,
];
/** Private keys are located at their header. */
const LINE = tail(32);
const bodies = [`-----\\n${LINE}\\n`, `-----\\r\\n${LINE}`, `-----\\\\n${LINE}`, `----- ${LINE}`];
const privateKeys: [before: string, text: string, after: string][] = [
  ...['', 'RSA ', 'EC ', 'OPENSSH ', 'ENCRYPTED ', 'PGP '].flatMap((kind) =>
    bodies.map((body): [string, string, string] => ['', `-----BEGIN ${kind}PRIVATE KEY`, body]),
  ),
  ...['DSA', 'TSS2'].map((kind): [string, string, string] => [
    '',
    `-----BEGIN ${kind} PRIVATE KEY`,
    `-----\\n${LINE}`,
  ]),
  ['', '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY', ` ----\\nComment: ada\\n${LINE}`],
  ['', '-----BEGIN PGP PRIVATE KEY', ` BLOCK-----\\nVersion: GnuPG v2\\n\\n${LINE}`],
  ['', '-----BEGIN RSA PRIVATE KEY', `-----\\nProc-Type: 4,ENCRYPTED\\nDEK-Info: DES,E2C7\\n\\n${LINE}`],
  ['', '-----BEGIN PRIVATE KEY', `-----\\" + \\"${LINE}`],
  [
    'PuTTY-User-Key-File-2: ssh-rsa\\nEncryption: none\\nPublic-Lines: 6\\nAAAA\\n',
    'Private-Lines: ',
    `14\\n${LINE}`,
  ],
];
/** Values after a name or in a URL. */
const VALUE = `${tail(20)}/${tail(19)}`;
const values: [before: string, text: string, after: string][] = [
  ...[
    'aws_secret_access_key = ',
    'AWS_SECRET_ACCESS_KEY=',
    'SecretAccessKey\\": \\"',
    "secretAccessKey: '",
  ].map((before): [string, string, string] => [before, VALUE, before.endsWith("'") ? "'" : '']),
  ['<SecretAccessKey>', VALUE, '</SecretAccessKey>'],
  // In Terraform, also aligned by tabs; in a URL; in color.
  ...[
    ...[
      '  secret_key = \\"',
      'secret_key\\t=\\t\\"',
      'AWS_SECRET_KEY=',
      'aws_secret_access_key\\t= ',
      'SECRET_KEY: ',
    ],
    ...['aws_secret_access_key%3D', 'AWS_SECRET_ACCESS_KEY=\\u001b[1;32m', 'secretKey=\\u009b32m'],
    ...['AWS_SECRET_ACCESS_KEY=3D', "env['SECRET_KEY'] = "],
    // Names in all spellings, and between columns.
    ...['et', 'ET', 'ss', 'SS'].flatMap((end) =>
      ['_', '-', '.', ''].flatMap((sign) =>
        ['key', 'Key', 'KEY']
          .filter((key) => (key === 'KEY') === /[TS]/.test(end))
          .map((key) => {
            const words = end === 'et' || end === 'ET' ? ['secret', key] : ['secret', 'access', key];
            const name = words.join(sign);
            return `my${/[TS]/.test(end) ? name.toUpperCase() : name}${' '.repeat(20)}:${'\\t'.repeat(20)}`;
          }),
      ),
    ),
  ].map((before): [string, string, string] => [before, VALUE, before.endsWith('"') ? '\\"' : '']),
  ['mySecretAccessKey\\\\\\": \\\\\\"', VALUE, '\\\\\\"'],
  ...['postgres://app:', 'mongodb+srv://app.x:', 'redis://:', 'https:\\/\\/a%40b:'].flatMap((before) =>
    [
      ...['S3cr3tPw', 'hunter-2.~!', `${tail(127)}Z`, 'qRtZpLmWxKcVbNhG'],
      ...["$xY9*'kq(3)#z@w", 'p@ssW@7xK2q', 'kTr(qW#zXv', 'xKqZrTwPbN', 'kT1234zQ9xW', 'aB3passX9kQ2'],
    ].map((text): [string, string, string] => [before, text, '@db.host.test/x']),
  ),
  ['amqp://app:', 'S3cr3tPw', '@10.0.0.7:5672'],
  // A key as a password is one secret.
  ['https://app:', `ghp_${tail(36)}`, '@github.com/x'],
];
/** Texts before a key that aren't part of its word. */
const marks = [
  ...['token=3D', 'a=20', '=C3=A9', '\\u009b31m', '\\u009bm', '\u009b1;31m', '\\\\x9b31m', '%1B%5B31m'],
  ...['token%3D', 'Bearer%20', '%22', 'a%253D', 'é%C3%A9', '\\u0025\u0032\u0030', '\\\\x3d', "b'\\\\x00"],
  ...[
    '\\u001b[32m',
    '\\u001b[1;31m',
    '\\u001B[m',
    '\\u001b[2K',
    '\\\\u001b[0m',
    'a\\u001b[38;2;1;2;3m',
    '[32m',
    '^[[0m',
  ],
  ...['\\\\x1b[1;31m', '\\\\x1B[m', '\\\\033[0m', '\\\\033[m', '\\\\e[K', '\\n', '\\\\n', '\\\\t'],
];
const emails = 'me@home.test first.last+tag@mail.some-host.co.test A_b%c@x1.test 7@q.test'.split(' ');
const cards = [
  ...'4111111111111111 4111-1111-1111-1111 5555555555554444 2223003122003222 6011111111111117'.split(' '),
  ...'378282246310005 30569309025904 3530111333300000 4222222222222 4000000000000000006'.split(' '),
  ...['4111 1111 1111 1111', '3782 822463 10005', '3056 930902 5904'],
];
/** Cards among other numbers. */
const cardRows = [
  ...[
    'paid on 2026-11-21 #',
    '# 12/27 123',
    '17 #',
    '#,12,2027',
    '12,2027,#',
    '[#]',
    '["#", 17]',
    'x\\n1,2\\n#,3',
  ],
  ...['a%20#', 'card%3D#', '%2520#', '%C2%A0#', 'a=3D#', 'a=20#', '\\\\x20#', '\\u009b31m#', 'card=#'],
  ...['{\\"a\\":1,\\"card\\":#}', 'a[1] = #', '[1, 2] #', '(#)', '\\u001b[32m#\\u001b[0m'],
];
const whole = (texts: readonly string[]) => texts.map((text) => ['', text, ''] as const);
/** Returns the text of a part of a JSON string. */
const meant = (part: string) => JSON.parse(`"${part}"`) as string;

/** Kinds of keys whose random part may have no 12 letters and digits in a row, or only letters. */
const [LETTERS, BASE64URL] = ['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', '0123456789_-'];
const randomKinds: Record<string, [before: string, of: string, length: number, after?: string]> = {
  GitLab: ['glpat-', LETTERS + BASE64URL, 20],
  'Google client': ['GOCSPX-', LETTERS + BASE64URL, 28],
  Google: ['AIza', LETTERS + BASE64URL, 35],
  AWS: ['AKIA', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16],
  'AWS secret': ['aws_secret_access_key = ', `${LETTERS}0123456789+/`, 40],
  Stripe: ['whsec_', `${LETTERS}0123456789+/`, 32],
  'Hugging Face': ['hf_', LETTERS, 34],
  service: ['service_', LETTERS + BASE64URL, 43],
  'password of letters': ['postgres://app:', LETTERS, 16, '@db.host.test/x'],
  password: ['postgres://app:', `${LETTERS}0123456789!$*'()#@&+,-.;=_~`, 24, '@db.host.test/x'],
};

/** All of these, each with the text that must be around it. */
const secrets = Object.entries({
  'api-key': [...whole(keys), ...values],
  'private-key': privateKeys,
  'email-address': whole(emails),
  'card-number': whole(cards),
}).flatMap(([code, texts]) => texts.map(([before, text, after]) => ({ code, before, text, after })));

/** Text that resembles secrets. */
const harmless = [
  ...'service_account_credentials_v2 service_AccountManagerFactoryProvider service_ service_ab3'.split(' '),
  ...'service_accountmanagerfactoryprovider service_client_2_connection_pool'.split(' '),
  ...['myservice_', 'task-', 'disk-'].map((word) => word + tail(24)),
  ...'sk-learn-estimators-html-repr-v1 sk-container-id-1-sk-text-repr-fallback sk-…'.split(' '),
  ...[`AKIA${upper(15)}`, `XAKIA${upper(16)}`, `akia${upper(16)}`, 'AKIAAAAAAAAAAAAAAAAA', `AIza${tail(34)}`],
  ...[`ghp_${tail(35)}`, `xghp_${tail(36)}`, `\\u0061ghp_${tail(36)}`],
  ...'npm_config_user_agent_and_some_more_words hf_hub_download_from_a_repository_1 AccountKey=short'.split(
    ' ',
  ),
  // Too short, without a word's beginning, or words.
  ...[`gsk_${tail(39)}`, `r8_${tail(29)}`, `lin_api_${tail(31)}`, `ntn_${tail(39)}`, `whsec_${tail(23)}`],
  ...[`shpat_${tail(31)}`, `PMAK-${tail(49)}`, `pplx-${tail(39)}`, `xai-${tail(59)}`, `GOCSPX-${tail(27)}`],
  ...[
    `xapp-${tail(39)}`,
    `hvs.${tail(23)}`,
    `hvb.${tail(23)}`,
    `ya29.${tail(59)}`,
    `hooks.slack.com/services/${tail(39)}`,
  ],
  ...[
    'gsk_',
    'r8_',
    'lin_api_',
    'ntn_',
    'whsec_',
    'shpat_',
    'PMAK-',
    'pplx-',
    'xai-',
    'GOCSPX-',
    'xapp-',
    'hvs.',
    'ya29.',
    'eyJ',
  ].flatMap((prefix) => [`x${prefix}${tail(99)}`, `${prefix}${'some_word-'.repeat(9)}`, prefix]),
  'hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX',
  // Incomplete tokens, and the example in most documentation.
  ...[
    TOKEN.slice(0, TOKEN.lastIndexOf('.')),
    TOKEN.slice(0, TOKEN.lastIndexOf('.') + 16),
    TOKEN.split('.')[0]!,
  ],
  ...[
    token({}),
    `eyJ${tail(40)}.${tail(40)}.${tail(43)}`,
    token({ sub: '1234567890', name: 'John Doe', iat: 1516239022 }),
  ],
  // Examples.
  ...['AKIAIOSFODNN7EXAMPLE', 'AKIAI44QH8DHBEXAMPLE', `ghp_${tail(30)}example${tail(10)}`],
  'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  // Names without a value of the right length.
  ...[
    `aws_secret_access_key = ${tail(39)}`,
    `AWS_SECRET_ACCESS_KEY=${tail(41)}`,
    `SecretAccessKey${tail(40)}`,
  ],
  // Names of other keys.
  ...[`public_key = ${tail(40)}`, `secret.access,key=${tail(40)}`, `secret_keys = ${tail(40)}`],
  // A percent sign that escapes no byte.
  `secret_key=%zz${VALUE}`,
  ...[`secretAccessKey: env.${tail(40)}`, `secretAccessKey, ${tail(40)}`, `secret_key_base = ${tail(40)}`],
  ...[`aws_secret_access_key = '${'some_words_'.repeat(4)}'`, `AWS_SECRET_ACCESS_KEY=${'A'.repeat(40)}`],
  // Passwords that are placeholders, or of something that isn't a host.
  ...[
    'user:password',
    'user:Passw0rd1',
    'postgres:postgres',
    'me:hunter2',
    'me:12345678',
    'me:key_1234',
    'me:he%2F%2Fothere',
    'me:correcthorse',
    'me:correcthorsebattery',
    'me:CorrectHorseBat',
    ...[
      'me:********',
      'me:a1b2***@',
      'me:p@ssw0rd',
      'me:Pa$$word1',
      'me:admin1234',
      'me:mypass123',
      'me:$DB_PASS_2',
    ],
    ...[
      'me:$(DB_PW1)',
      'me:%(db_pw1)s',
      'me:(your-pw1)',
      "me:'+pw1+'",
      'me:YourDbPwd',
      'me:changeme-now!',
      'me:AuthToken',
    ],
    ...['me:pass1234word', 'me:$token1', 'me:my$secret', '$USER:$PASSWORD1'],
  ].map((user) => `https://${user}@db.host.test/x`),
  ...[
    'me:my-example-1',
    '${USER}:${PASS}',
    '<me>:<p4ssword>',
    'me:',
    ':',
    `me:${tail(129)}`,
    `me:${tail(199)}`,
  ].map((user) => `https://${user}@db.host.test/x`),
  ...[
    'localhost:5432',
    '127.0.0.1',
    'db',
    'db.example',
    'example.com',
    'www.Example.org',
    '${HOST}',
    '.',
    '',
  ].map((host) => `https://me:S3cr3tPw@${host}/x`),
  ...[
    'https:/me:S3cr3tPw@db',
    'a//me:S3cr3tPw@db',
    'https://host/me:S3cr3tPw@1.2',
    'https://host:8080/@scope/n4me.js',
  ],
  ...['-----BEGIN PUBLIC KEY-----', '-----BEGIN CERTIFICATE-----', '----BEGIN PRIVATE KEY'].map(
    (text) => `${text}\\n${LINE}`,
  ),
  // Headers of private keys without a line, or of another text.
  ...[
    '',
    '-----',
    '-----\\n…',
    '-----\\n-----END PRIVATE KEY-----',
    `-----\\n${'X'.repeat(64)}`,
    `-----\\n${tail(31)}`,
  ].map((text) => `-----BEGIN PRIVATE KEY${text}`),
  ...[
    `-----BEGIN RSA PRIVATE KEY-----\\n...\\n-----END RSA PRIVATE KEY-----\\n${LINE}`,
    `-----BEGIN PRIVATE KEY${'.'.repeat(600)}${LINE}`,
  ],
  ...[
    'Private-Lines: 14',
    'Private-Lines: 14\\nPrivate-MAC: 8b',
    `AGE-SECRET-KEY-1${upper(57)}`,
    `age1${tail(58)}`,
  ],
  ...'package@1.2.3 @scope/name me@ @me.test me@localhost me@example.com You@Mail.Example.ORG a@b.c'.split(
    ' ',
  ),
  ...'a@mail.example.net a@.com a@b..com @decorator.call x@y.1a'.split(' '),
  `${'x'.repeat(70)}@home.test`,
  ...'4111111111111112 41111111111111111 411111111111 14111111111111111 x4111111111111111'.split(' '),
  ...'4111111111111111x 0.4111111111111111 4111111111111111.5 _4111111111111111 e4111111111111111e'.split(
    ' ',
  ),
  // With two separators, in a list of four-digit numbers, or in an array.
  ...['4111-1111 1111 1111', '4111 1111-1111-1111', '3782-822463 10005', '0410 4111 1111 1111 1111'],
  ...[
    '4111 1111 1111 1111 0416',
    '4111-1111-1111-1111-0416',
    '[4111111111111111, 17]',
    '[17,4111111111111111]',
  ],
  ...['[ 1,\\n 4111111111111111\\n]', '{4111111111111111,2}', `${'[1.5,-2e9,'.repeat(3)}4111111111111111`],
  `[${'40000000000000006, '.repeat(99)}4111111111111111]`,
  ...['4111  1111 1111 1111', '4111 1111 1111 111', '4111 11111111 1111', '2026-11-21 00:49:14'],
  ...'9111111111111111 1700000000000 378282246310006 7992739871399273987134 3.141592653589793238'.split(' '),
  ...'da39a3ee5e6b4b0d3255bfef95601890afd80709 550e8400-e29b-41d4-a716-446655440000'.split(' '),
  // Names of pictures, addresses of repositories, and names for examples.
  ...'icon@2x.png icon@3x.webp git@github.com:o/r.git x@test.example x@test.EXAMPLE'.split(' '),
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

  /** Asserts that each secret is found in place of `#` in each frame. Skips those that the frame would make longer: addresses can have accents. */
  async function findAll(frames: readonly string[]): Promise<void> {
    const isAccented = (frame: string) => /é#|\\u00e9#/.test(frame);
    const cases = secrets.flatMap((secret) =>
      frames
        .filter((frame) => secret.code !== 'email-address' || !isAccented(frame))
        .map((frame) => ({ ...secret, frame })),
    );
    const rows = cases.map(({ frame, before, text, after }) =>
      frame.replace('#', () => before + text + after),
    );
    const found = await foundIn(rows);
    for (const [index, { code, before, text, frame }] of cases.entries()) {
      const problems = (found.get(index + 1) ?? []).map(({ code, column, length }) => [code, column, length]);
      assert.deepEqual(problems, [[code, frame.indexOf('#') + before.length + 1, text.length]], rows[index]);
    }
  }

  it('are found in common contexts, and on their own', () =>
    findAll(
      [
        ...['"#"', '"key: #, or"', '"(#)"', '"=#\\""', '"\'#\'"', '"é#é"', '"模型#"'],
        ...['"a\\n#\\nb"', '"a\\t#\\\\"', '"a\\\\\\n#\\r"', '"\\u00e9#\\u00e9"', '"\\uff1a#"', '"\\u53f7#é"'],
      ]
        .map((text) => `{"text":${text}}`)
        .concat('#'),
    ));

  it('are found after a byte in a URL, and in the colors of a terminal', async () => {
    const found = marks.flatMap((mark) => keys.map((key) => ({ mark, key })));
    const rows = found.map(({ mark, key }) => `{"text":"${mark}${key}\\u001b[0m"}`);
    const problems = await foundIn(rows);
    for (const [index, { mark, key }] of found.entries())
      assert.deepEqual(
        problems.get(index + 1)?.map(({ code, column, length }) => [code, column, length]),
        [['api-key', '{"text":"'.length + mark.length + 1, key.length]],
        rows[index],
      );
  });

  it('are both of a key of AWS, as its console writes them', async () => {
    const id = `AKIA${upper(16)}`;
    const temporaryId = `ASIA${upper(16)}`;
    for (const [row, length] of [
      [`Access key ID,Secret access key\\r\\n${id},${VALUE}\\r\\n`, 2],
      [`\\"User name\\",\\"Access key ID\\"\\n\\"ada\\",\\"${id}\\",\\"${VALUE}\\",\\"https://x.test\\"`, 2],
      [`${id}:${VALUE}`, 2],
      [`${temporaryId}:${VALUE}`, 2],
      [`${id}\\t${VALUE}`, 2],
      [`${id};${VALUE}`, 2],
      [`| ${id} | ${' '.repeat(20)}${VALUE} |`, 2],
      [`${id},${tail(39)}`, 1],
      [`${id},${'A'.repeat(40)}`, 1],
      [`hf_${tail(34)},${VALUE}`, 1],
    ] as const) {
      const found = (await foundIn([`{"text":"${row}"}`])).get(1) ?? [];
      const texts = [`hf_${tail(34)}`, id, temporaryId, VALUE]
        .filter((text) => row.includes(text))
        .slice(0, length);
      const expected = texts.map((text) => [row.indexOf(text) + 10, text.length]);
      assert.deepEqual(found.map(({ column, length }) => [column, length]).sort(), expected.sort(), row);
    }
  });

  it('are found with nearly every random body', async function () {
    const random = new Random(36);
    const bodies = 10_000;
    for (const [kind, [before, of, length, after = '']] of Object.entries(randomKinds)) {
      const rows = Array.from({ length: bodies }, () => {
        const body = Array.from({ length }, () => of[random.below(of.length)]).join('');
        return `{"text":"${before}${body}${after}"}`;
      });
      const missed = bodies - countOf(await check(rows.join('\n')), 'api-key');
      assert.ok(missed <= bodies / 1_000, `${kind}: ${missed} not found`);
    }
    const tokens = Array.from({ length: bodies }, (_, id) => `{"text":"${token({ id })}"}`);
    assert.equal(countOf(await check(tokens.join('\n')), 'api-key'), bodies);
  });

  it('are found as other writers of JSON escape them, at the beginning of a line, and in JSON in a string', async () => {
    const raw = secrets.filter(({ code }) => code !== 'card-number');
    const cases = Object.values(ESCAPING_WRITERS).flatMap((escape) =>
      [1, 2, 3, 4].flatMap((depth) =>
        raw.map(({ code, before, text, after }) => {
          // The text around it is already JSON.
          const [start, secret, end] = [`a\n${meant(before)}`, text, `${meant(after)}\n`].map((part) =>
            written(part, escape, depth),
          );
          return { code, start, secret, row: `{"text":"${start}${secret}${end}"}` };
        }),
      ),
    );
    const found = await foundIn(cases.map(({ row }) => row));
    for (const [index, { code, start = '', secret = '', row }] of cases.entries()) {
      const problems = (found.get(index + 1) ?? []).map(({ code, column, length }) => [code, column, length]);
      assert.deepEqual(problems, [[code, '{"text":"'.length + start.length + 1, secret.length]], row);
    }
  });

  it('are card numbers among other numbers', async () => {
    for (const card of [
      '4111111111111111',
      '4111 1111 1111 1111',
      '4111-1111-1111-1111',
      '3782 822463 10005',
      '4012888888881881',
    ]) {
      const rows = cardRows.map((frame) => `{"text":"${frame.replace('#', card)}"}`);
      const found = await foundIn(rows);
      for (const [index, row] of rows.entries())
        assert.deepEqual(
          found.get(index + 1)?.map(({ column, length }) => [column, length]),
          [[row.indexOf(card) + 1, card.length]],
          row,
        );
    }
  });

  it('are whole addresses, with accents, apostrophes and escapes', async () => {
    const addresses = [
      ...[
        'josé.garcía@acme.io',
        'jörg@acme.io',
        'Jane@münchen.de',
        'jos\\u00e9@m\\u00fcnchen.de',
        'jose\u0301@acme.io',
      ],
      ...["o'brien@acme.io", 'o\\u0027brien@acme.io', 'a\\u002Bb@acme.io', 'jörg\\\\u002b1@acme.io'],
    ];
    const frames = [
      '"#"',
      '"to #, or"',
      '"a\\n#\\n"',
      '"a\\\\n#\\\\n"',
      '"<#>"',
      '"\\u003c#\\u003e"',
      '"模型#é"',
    ];
    // A quote, or the prefix of a quoted string, isn't part of it.
    const quoted = ["['#']", "{u'a': u'#'}", "f'#'", '\\u0027#\\u0027'].map(
      (frame) => [frame, 'me@acme.io'] as const,
    );
    const cases = [
      ...frames.flatMap((frame) => addresses.map((address) => [frame, address] as const)),
      ...quoted.map(([frame, address]) => [`"${frame}"`, address] as const),
    ];
    const found = await foundIn(cases.map(([frame, address]) => `{"text":${frame.replace('#', address)}}`));
    for (const [index, [frame, address]] of cases.entries()) {
      const problems = (found.get(index + 1) ?? []).map(({ code, column, length }) => [code, column, length]);
      const column = '{"text":'.length + frame.indexOf('#') + 1;
      assert.deepEqual(problems, [['email-address', column, address.length]], frame.replace('#', address));
    }
  });

  it('are found at every position in a block of 16 bytes', () =>
    findAll(Array.from({ length: 17 }, (_, length) => `{"text":"${' '.repeat(length)}#"}`)));

  it('are found as the only bytes of a file', async () => {
    for (const { code, before, text, after } of secrets) {
      const found = problemsOf(await check(before + text + after)).filter(
        (problem) => problem.class === 'privacy',
      );
      assert.deepEqual(
        found.map(({ code, offset, length }) => [code, offset, length]),
        [[code, before.length, text.length]],
        text,
      );
    }
  });

  it('are not found in similar text, or across two rows', async () => {
    // A part of an email address or of some keys is itself a secret.
    const isWhole = ({ code, text, after }: (typeof secrets)[number]) =>
      code !== 'email-address' && !after.startsWith('@') && !/proj|pat|Private-Lines/.test(text);
    const joined = secrets.filter(isWhole).map(({ before, text, after }) => before + text + after);
    const rows = [
      ...harmless.flatMap((text) => [`{"text":"${text}"}`, `{"text":"a ${text} b"}`, text]),
      ...joined.flatMap((text) => {
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

  it('have a pattern for each kind, which is tried here', () => {
    for (const { prefix } of KEY_PATTERNS)
      assert.ok(
        secrets.some(({ before, text }) => (before + text).includes(prefix)),
        prefix,
      );
    const more = (...prefixes: string[]) => [
      ...KEY_PATTERNS,
      ...prefixes.map((prefix) => ({ ...KEY_PATTERNS[0]!, prefix, anchor: 0 })),
    ];
    assert.equal(encodeAnchors(more('abJ', 'bc_')).length, encodeAnchors().length);
    assert.throws(() => encodeAnchors(more('abc')), RangeError);
    assert.throws(() => encodePatterns(more(...Array<string>(96).fill('abc'))), RangeError);
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
        ['api-key', 5, row.lastIndexOf(one) - breaks[0]],
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
    const rows = [
      ...masked.map(([text]) => text),
      ...secrets.map(({ before, text, after }) => before + text + after),
    ];
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
