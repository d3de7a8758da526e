/** List prices of other products, computed for a million steps in runs of ten, with their sources. */

export interface Peer {
  readonly name: string;
  readonly billed: string;
  /** For 1,000,000 steps in 100,000 runs. */
  readonly usd: number;
  readonly source: string;
}

const STEPS = 1_000_000;
const RUNS = 100_000;
const MILLION = 1_000_000;
export const PEERS: readonly Peer[] = [
  {
    name: 'Temporal Cloud',
    billed:
      '1.1 million actions (a start and ten activities a run) at $50 a million. Plus 10 % (Developer plan), storage, and your workers',
    usd: ((STEPS + RUNS) / MILLION) * 50,
    source: 'https://docs.temporal.io/cloud/pricing',
  },
  {
    name: 'AWS Step Functions, Standard',
    billed: 'a million state transitions at $25 a million. Plus the functions that do the work',
    usd: (STEPS / MILLION) * 25,
    source:
      'https://www.wring.co/blog/aws-step-functions-pricing-guide (AWS shows the price in a table that the stored page lacks)',
  },
  {
    name: 'AWS Lambda durable functions',
    billed: '1.1 million durable operations at $8 a million. Plus data written and kept, and the functions',
    usd: ((STEPS + RUNS) / MILLION) * 8,
    source:
      'https://aws.amazon.com/lambda/pricing/ as transcribed on 2026-09-20 by https://raw.githubusercontent.com/api-evangelist/aws-lambda/refs/heads/main/plans/aws-lambda-plans-pricing.yml',
  },
  {
    name: 'Inngest, Pro',
    billed:
      '1.1 million executions (a run and ten steps) at $50 a million beyond what a monthly plan includes. Plus the plan, and your functions',
    usd: ((STEPS + RUNS) / MILLION) * 50,
    source:
      'https://www.inngest.com/docs/durable-execution/limits (what counts); https://www.inngest.com/pricing as transcribed on 2026-05-22 by https://github.com/api-evangelist/inngest, `plans/inngest-plans-pricing.yml`',
  },
  {
    name: 'Trigger.dev',
    billed:
      '100,000 runs at $0.25 for 10,000, and a second of the smallest machine each at $0.0000169, the work included. Steps are code inside a task',
    usd: (RUNS / 10_000) * 0.25 + RUNS * 0.0000169,
    source:
      'https://trigger.dev/pricing as transcribed on 2026-05-22 by https://raw.githubusercontent.com/api-evangelist/trigger-dev/refs/heads/main/plans/trigger-dev-plans-pricing.yml',
  },
];
