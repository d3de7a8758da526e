/** Labels of issues and pull requests. A repository has each label from its first use, as GitHub makes them. */
import type { StandInRequest, StandInRoute } from '../../stand-in/route.ts';
import type { StandInStore, StoredItem } from '../../stand-in/store.ts';
import { invalid, members, repositoryOf } from '../pages.ts';

interface Label {
  readonly name: string;
}

const KIND = 'label';
/** Most labels of an issue. */
const MAX_LABELS = 100;
const MAX_NAME_CHARS = 50;
const OF_ISSUE = '/repos/{owner}/{repo}/issues/{issue_number}/labels';

const placeOf = (request: StandInRequest) =>
  `${repositoryOf(request)}#${request.params.issue_number}`.toLowerCase();
/** GitHub compares names without regard to case. */
const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

export const labelRoutes: readonly StandInRoute[] = [
  {
    name: `POST ${OF_ISSUE}`,
    changes: true,
    answer(request, store) {
      const names = namesIn(request.body);
      if (!names) return invalid('Label', 'name', 'is invalid');
      const labels = labelsOf(request, store);
      const fresh = names.filter(
        (name, i) =>
          !labels.some(({ value }) => same(value.name, name)) &&
          names.findIndex((other) => same(other, name)) === i,
      );
      if (labels.length + fresh.length > MAX_LABELS)
        return invalid('Issue', 'labels', `cannot have more than ${MAX_LABELS} labels`);
      for (const name of fresh) store.add(KIND, placeOf(request), { name });
      return { status: 200, body: labelsOf(request, store).map(shown) };
    },
  },
  {
    name: `GET ${OF_ISSUE}`,
    changes: false,
    answer: (request, store) => ({ status: 200, body: labelsOf(request, store).map(shown) }),
  },
  {
    name: `DELETE ${OF_ISSUE}/{name}`,
    changes: true,
    answer(request, store) {
      const label = labelsOf(request, store).find(({ value }) =>
        same(value.name, String(request.params.name)),
      );
      if (!label) return { status: 404, body: { message: 'Label does not exist' } };
      store.remove(KIND, label.id);
      return { status: 200, body: labelsOf(request, store).map(shown) };
    },
  },
];

/** `{"labels": […]}` or a list, of names or of objects that have one. */
function namesIn(body: unknown): string[] | undefined {
  const labels = Array.isArray(body) ? body : members(body).labels;
  if (!Array.isArray(labels)) return undefined;
  const names = labels.map((label: unknown) => (typeof label === 'string' ? label : members(label).name));
  const valid = names.every(
    (name) => typeof name === 'string' && name !== '' && name.length <= MAX_NAME_CHARS,
  );
  return valid ? (names as string[]) : undefined;
}

function labelsOf(request: StandInRequest, store: StandInStore): StoredItem<Label>[] {
  return store.list<Label>(KIND, placeOf(request), { skip: 0, take: MAX_LABELS });
}

function shown({ id, value: { name } }: StoredItem<Label>) {
  return { id, name, color: 'ededed', default: false, description: null };
}
