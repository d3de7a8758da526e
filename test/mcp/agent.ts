/** An agent's client of the tools, over an installation in memory. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import type { Role } from '../../packages/cairn/src/ports/access/client-store.ts';
import { CairnClient } from '../../packages/client/src/index.ts';
import { mcpServer } from '../../packages/mcp/src/server.ts';
import type { Stage } from '../cli/support/stage.ts';

export interface Answered {
  readonly isError: boolean;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the data of any tool
  readonly data: any;
}

export interface AgentOptions {
  readonly role?: Role;
  readonly now?: () => number;
  readonly secret?: string;
  /** Counts requests, or lets them fail. */
  readonly before?: (url: string, init: RequestInit) => void;
  /** Called after each request; may throw to lose the answer. */
  readonly after?: (url: string, init: RequestInit) => void;
}

export class Agent {
  readonly client = new Client({ name: 'test', version: '1' });

  static async of(stage: Stage, options: AgentOptions = {}): Promise<Agent> {
    const agent = new Agent();
    const [one, other] = InMemoryTransport.createLinkedPair();
    const { now = () => stage.installation.world.clock.now(), secret = 'secret' } = options;
    const client = new CairnClient({ ...(await clientOf(stage, options)), now });
    await mcpServer({ client, secret }).connect(other);
    await agent.client.connect(one);
    return agent;
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<Answered> {
    const { content, structuredContent, isError } = await this.client.callTool({ name, arguments: args });
    const [first] = content as { text: string }[];
    return { isError: isError === true, text: first?.text ?? '', data: structuredContent };
  }

  /** Previews and acts. */
  async act(name: string, args: Record<string, unknown>): Promise<Answered> {
    const { data } = await this.call(`preview_${name}`, args);
    return this.call(name, { ...args, token: data.token });
  }
}

export async function clientOf(stage: Stage, { role = 'operator', before, after }: AgentOptions = {}) {
  const credential = await stage.installation.key(`key-${role}`, { tenantId: 't1', roles: [role] });
  const { api } = stage.installation;
  return {
    url: 'https://runs.test',
    credential,
    attempts: 1,
    fetch: async (url: string, init: RequestInit) => {
      before?.(url, init);
      const answer = await api.request(url.replace('https://runs.test', ''), init);
      after?.(url, init);
      return answer;
    },
  };
}
