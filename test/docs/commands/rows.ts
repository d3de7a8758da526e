/** For each command of the documents, the test that runs it, or the reason why none can. */

/** `here`: commands-run.test.ts, against an installation in memory. */
export type Place =
  | 'here'
  /** `as`: the text of the command in the file that runs it; empty if it equals the command in the document. */
  | { readonly by: string; readonly as: string }
  /** Compared with the table of google.ts. */
  | 'google'
  | { readonly cannot: string };

export type Row = readonly [command: RegExp, place: Place];

/** Commands that a newcomer copies; `npm run newcomer`, which `.ci/timed` runs, contains them verbatim. */
const NEWCOMER = 'scripts/newcomer/way.ts';
const ADOPT = 'scripts/adopt/main.ts';
const START = { by: 'test/local/start/npm-start.test.ts', as: "'start', '--silent', '--', '--json'" };
const CHECK = 'scripts/check.mjs';
/** Runs each command with reduced numbers. */
const LONG = 'test/docs/commands/long-commands.test.ts';
const STARTED = 'test/docs/commands/started.test.ts';

/** The first matching row applies. */
export const ROWS: readonly Row[] = [
  [/^npm start(?: -- --json)?$/, START],
  [/^npm start -- --functions functions\/src\/my-functions\.ts$/, { by: NEWCOMER, as: '' }],
  [/^npm start -- --functions examples\/research/, { by: STARTED, as: '' }],
  [
    /^OTEL_\S+ npm start$/,
    { by: 'test/system/telemetry/telemetry.test.ts', as: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
  ],
  [/^DEPLOY_HOOK_URL=\S+ npm start$/, { by: 'test/docs/workflows.test.ts', as: 'DEPLOY_HOOK_URL' }],
  [/^node review\.ts$/, { by: 'test/docs/workflows.test.ts', as: 'review.ts' }],
  [/^node -p 'JSON\.parse/, { by: 'test/docs/operators/cli.test.ts', as: "'--status', 'failed', '--json'" }],
  [/^node receiver\.ts 4100$/, { by: 'test/docs/workflows.test.ts', as: 'receiver.ts' }],
  [/^npm install$/, { by: 'scripts/install.mjs', as: "'install', ...options" }],
  [/^npm test -- test\/workflows\/invite-team/, { by: NEWCOMER, as: '' }],
  [/^npm test$/, { by: 'scripts/ci.mjs', as: "project('test'" }],
  [/^CONSOLE_SCREENSHOTS=\S+ npm test/, { by: 'test/console/every-page.test.ts', as: '' }],
  [/^SWEEP_FLOWS=all KILLS=12 npm test/, { by: 'scripts/soak.mjs', as: 'SWEEP_FLOWS' }],
  [/^npm run help$/, { by: 'test/scripts/commands.test.ts', as: "'run', '--silent', 'help'" }],
  [/^npm run check$/, { by: 'scripts/ci.mjs', as: "project('check'" }],
  [/^npm run newcomer$/, { by: '.ci/timed', as: '' }],
  [/^npm run adopt$/, { by: '.ci/timed', as: '' }],
  [/^npm run types$/, { by: CHECK, as: 'typescript/bin/tsc' }],
  [/^npm run format$/, { by: CHECK, as: '@biomejs/biome/bin/biome' }],
  [/^npm run console:build$/, { by: 'scripts/run.mjs', as: 'test: [buildConsole' }],
  [/^npm run (?:console:dev|firestore)$/, { by: STARTED, as: '' }],
  [/^npm run demo$/, { by: 'test/system/demo.test.ts', as: 'scripts/demo/main.ts' }],
  [/^npm run pack$/, { by: 'test/types/published.test.ts', as: 'scripts/pack.mjs' }],
  [
    /^npm run (?:agent-kills$|picture$|power-cut$|bench:scan -- --cloud$|bench:console$)/,
    { by: '.ci/timed', as: '' },
  ],
  [/^npm run (?:soak|crowds|bench:scan)$/, { by: LONG, as: '' }],
  [/^npm run sweep/, { by: STARTED, as: "['run', 'sweep'" }],
  [
    /^(?:PEERS|CAIRN_WIRE_HOSTS)=\S* npm run bench|^npm run bench/,
    { by: 'test/bench/bench.test.ts', as: 'bench/main.ts' },
  ],
  [/^npm run simulate/, { by: 'test/bench/simulate/main.test.ts', as: 'bench/simulate/main.ts' }],
  [/^npm run emulators/, { by: 'test/emulators/main-job.test.ts', as: 'emulators: true' }],
  [/^npm run (?:test:emulators|test:deploy|deploy:install)$/, { by: '.ci/timed', as: '' }],
  [/^npm run deploy/, { by: 'test/deploy/support/firebase.ts', as: 'scripts/deploy/main.ts' }],
  [/^npm run firebase -- …/, { by: '.ci/timed', as: 'npm run firebase -- ' }],
  [/^npm run firebase -- /, 'google'],
  [/^npm install --save-dev .*build\/packages/, { by: ADOPT, as: "'install', '--save-dev'" }],
  [/^npm --prefix (?:function-)?kits/, { cannot: 'it asks the registry for the published kit' }],
  [/^npm --prefix cairn ci$/, { cannot: 'it asks the registry for the packages' }],
  [/^npm --prefix cairn install \.\/cairn\/packages\//, { cannot: 'it needs the packages of 0.2.0' }],
  [/^(?:npx )?cairn init --undo$/, { by: ADOPT, as: "'init', '--undo'" }],
  [/^(?:npx )?cairn init$/, { by: ADOPT, as: "'cairn', 'init'" }],
  [/^(?:npx )?cairn dev(?: --project PROJECT)?$/, { by: ADOPT, as: "'cairn', 'dev'" }],
  [/^cairn mcp$/, { by: 'test/mcp/stdio.suite.ts', as: "'mcp'" }],
  [
    /^npm run cairn -- sweep examples\/order/,
    { by: 'test/cli/sweep.test.ts', as: 'examples/order/order.sweep.ts' },
  ],
  [
    /^npm run cairn -- sweep examples\/research/,
    { by: 'test/agents/research.test.ts', as: 'research.sweep.ts' },
  ],
  [
    /^npx cairn sweep test\/workflows\/order-return/,
    { by: 'test/docs/writing/testing.test.ts', as: 'order-return.sweep' },
  ],
  [/^npx cairn sweep (?:WORKFLOW|order-return)$/, { by: 'test/cli/sweep.test.ts', as: "'sweep'" }],
  [/^npx @cairn\/local-firestore/, { by: 'test/local/alone.test.ts', as: 'npx @cairn/local-' }],
  [/^npx @cairn\/local-/, { by: 'test/local/alone.test.ts', as: 'npx @cairn/local-' }],
  [/^npm run cairn -- …/, { by: 'test/scripts/commands.test.ts', as: "'run', 'cairn', '--'" }],
  [
    /^(?:npm run|npx) cairn (?:-- )?clients first/,
    { by: 'test/cli/first-client.test.ts', as: "'clients', 'first'" },
  ],
  [/^(?:npm run (?:--silent )?cairn --|npx cairn|cairn)(?: |$)/, 'here'],
  [/identitytoolkit\.googleapis\.com/, { cannot: "it is an API of Google's cloud" }],
  [/\$CONTROL\/clock/, { by: NEWCOMER, as: '$CONTROL/clock/advance' }],
  [
    /^node -p .*SECRET" "v0:|^curl .*webhooks\/slack/,
    { by: 'test/docs/slack.test.ts', as: 'curlRequest(block' },
  ],
  [
    /^node -p .*(?:createHmac|randomUUID)|^curl .*webhooks\/github/,
    { by: 'test/docs/github.test.ts', as: 'curlRequest(block' },
  ],
  [/^curl -s (?:GITHUB|SLACK)\//, { by: STARTED, as: '' }],
  [/^curl /, 'here'],
  [/^(?:gcloud|firebase) /, 'google'],
];
