/** `cairn mcp` as an agent runs it, for a test file that has a local cloud. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { eventually } from '../system/support.ts';

/** The SDK waits a minute. */
const PATIENT = { timeout: 180_000 };

const MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');

/** @param folderOf folder with the data directory `data` of the cloud, once that is there */
export function servesAgents(folderOf: () => string): void {
  test('`cairn mcp` serves the local cloud to an agent: it starts a run, watches it end, and leaves', async () => {
    const folder = folderOf();
    const { agent, call } = await agentIn(folder);
    const start = { type: 'slow', input: { ms: 0, notes: join(folder, 'notes-of-agent') } };
    const { token } = await call('preview_start_run', start);
    const { runId } = await call('start_run', { ...start, token });
    await eventually('the run to end', async () => {
      const { run } = await call('get_run', { runId });
      return run.status === 'completed' ? true : undefined;
    });
    const { newestEvents } = await call('get_run', { runId, events: 3 });
    expect(newestEvents).toHaveLength(3);
    expect(newestEvents.at(-1)).toMatchObject({ type: 'run_completed' });
    await agent.close();
  });

  test('`cairn mcp` that starts before the local cloud says so, and serves it once it runs', async () => {
    const folder = folderOf();
    const early = mkdtempSync(join(tmpdir(), 'cairn-mcp-'));
    const { agent, call } = await agentIn(early);
    const missing = await call('list_workflows', {});
    expect(missing.error).toMatchObject({
      code: 'UNREACHABLE',
      detail: expect.stringMatching(/no local cloud is running.*npx cairn dev/s),
    });
    symlinkSync(join(folder, 'data'), join(early, 'data'));
    expect((await call('list_workflows', {})).items.length).toBeGreaterThan(0);
    await agent.close();
    rmSync(early, { recursive: true });
  });
}

async function agentIn(cwd: string) {
  const { CAIRN_URL: _, CAIRN_API_KEY: __, ...env } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', MAIN, 'mcp', '--local', 'data'],
    cwd,
    env: env as Record<string, string>,
  });
  const agent = new Client({ name: 'test', version: '1' });
  await agent.connect(transport, PATIENT);
  const call = async (name: string, args: Record<string, unknown>) =>
    // biome-ignore lint/suspicious/noExplicitAny: the data of any tool
    (await agent.callTool({ name, arguments: args }, PATIENT)).structuredContent as any;
  return { agent, call };
}
