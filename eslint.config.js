import tseslint from 'typescript-eslint';

const names = '/^(show(Information|Warning|Error)Message|withProgress)$/';
const message = 'Show it with src/ui/shared/notifications.ts.';
const directNotifications = [
  { selector: `MemberExpression[property.name=${names}]`, message },
  { selector: `MemberExpression[property.value=${names}]`, message },
  { selector: 'MemberExpression[computed=true][object.property.name=window]', message },
  { selector: 'MemberExpression[computed=true][object.name=window]', message },
  { selector: 'MemberExpression[property.value=window]', message },
  { selector: `ObjectPattern > Property[key.name=${names}]`, message },
];

export default tseslint.config(
  // The scanner is written in AssemblyScript, whose compiler checks it.
  { ignores: ['**/node_modules/', 'dist/', 'test-results/', 'test/fixtures/', 'src/core/datasets/scanner/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      // Numbers and booleans read well in a template.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/ui/shared/notifications.ts'],
    rules: {
      // In a notification VS Code makes links of a stranger's text; `ui/shared/notifications.ts` prevents it.
      'no-restricted-syntax': ['error', ...directNotifications],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/core/base/clock.ts'],
    rules: {
      // It reads a time without a zone as local.
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'parse', message: 'Read it with src/core/base/clock.ts.' },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
);
