/** A GitHub in memory, bound to the capabilities of the review; keeps what was asked, and fails on request. */
import type { ZodType } from 'zod';
import { createComment } from '../../../packages/cairn/src/capabilities/github/create-comment.ts';
import { addLabels, removeLabel } from '../../../packages/cairn/src/capabilities/github/labels.ts';
import { setCommitStatus } from '../../../packages/cairn/src/capabilities/github/set-commit-status.ts';
import {
  type Binding,
  type Capability,
  defineBinding,
} from '../../../packages/cairn/src/engine/define/capability.ts';

type RequestOf<C> = C extends { readonly request: ZodType<infer R> } ? R : never;

export class PretendedGithub {
  readonly comments: RequestOf<typeof createComment>[] = [];
  readonly statuses: RequestOf<typeof setCommitStatus>[] = [];
  readonly labels = new Set<string>();
  /** Thrown by the next calls of a capability: before it acts, or after. */
  readonly failures: { readonly id: string; readonly when: 'before' | 'after'; readonly error: Error }[] = [];
  readonly #made = new Map<string, { readonly id: number; readonly url: string }>();

  bindings(): readonly Binding[] {
    const { comments, statuses, labels } = this;
    return [
      this.#bind(createComment, (request) => void comments.push(request)),
      this.#bind(setCommitStatus, (request) => void statuses.push(request)),
      this.#bind(addLabels, (request) => {
        for (const label of request.labels) labels.add(label);
      }),
      this.#bind(removeLabel, ({ label }) => void labels.delete(label)),
    ];
  }

  #bind<Request, Response>(
    capability: Capability<Request, Response>,
    act: (request: Request) => void,
  ): Binding {
    const { id } = capability;
    return defineBinding(capability, {
      id: `${id}.pretended`,
      call: async (request, { idempotencyKey }) => {
        this.#failIf(id, 'before');
        act(request);
        const url = `https://github.com/acme/shop/pull/7#${this.#made.size + 1}`;
        const made = { id: this.#made.size + 1, url, labels: [...this.labels] };
        this.#made.set(idempotencyKey, made);
        this.#failIf(id, 'after');
        return capability.response.parse(made);
      },
      ...(capability.idempotency === 'required'
        ? {}
        : {
            lookup: async (_request, { idempotencyKey }) => {
              const made = this.#made.get(idempotencyKey);
              return made ? { found: true, response: capability.response.parse(made) } : { found: false };
            },
          }),
    });
  }

  #failIf(id: string, when: 'before' | 'after'): void {
    const at = this.failures.findIndex((failure) => failure.id === id && failure.when === when);
    const [failure] = at < 0 ? [] : this.failures.splice(at, 1);
    if (failure) throw failure.error;
  }
}
