import { isRecord } from '../../../lib/base/json.ts';

/** A document that differs from an accepted one in one place. */
export interface Mutant {
  readonly name: string;
  readonly document: Record<string, unknown>;
}

type Step = string | number;

/** What stands where something else is expected. */
const VALUES: readonly unknown[] = ['text', -1, 300, 1.5, true, {}, [], { x: 1 }, ['x']];

/** Each key misspelt; of every other place, the key left out or the value replaced by one of VALUES. */
export function* mutantsOf(
  name: string,
  document: Record<string, unknown>,
): Generator<Mutant & { readonly isMisspelt: boolean }> {
  for (const [index, path] of placesIn(document, []).entries()) {
    const place = path.join('.');
    const key = path.at(-1);
    const mutant = (what: string, edit: (owner: object, key: Step) => void) => ({
      name: `${name}: ${place} ${what}`,
      document: edited(document, path, edit),
      isMisspelt: what === 'misspelt',
    });
    if (typeof key === 'string') {
      yield mutant('misspelt', (owner, key) => {
        Reflect.set(owner, `${key}${String(key).at(-1)}`, Reflect.get(owner, key));
        Reflect.deleteProperty(owner, key);
      });
      if (index % 4 === 0) {
        yield mutant('left out', (owner, key) => Reflect.deleteProperty(owner, key));
      }
    }
    if (index % 2 === 0) continue;
    const value = VALUES[((index - 1) / 2) % VALUES.length];
    yield mutant(`= ${JSON.stringify(value)}`, (owner, key) =>
      Reflect.set(owner, key, structuredClone(value)),
    );
  }
}

/** A copy in which the mapping or list with the last step of the path is edited. */
export function edited(
  document: Record<string, unknown>,
  path: readonly Step[],
  edit: (owner: object, key: Step) => void,
): Record<string, unknown> {
  const copy = structuredClone(document);
  const owner = path
    .slice(0, -1)
    .reduce<unknown>(
      (inner, step) => (inner instanceof Object ? Reflect.get(inner, step) : inner),
      copy,
    );
  const key = path.at(-1);
  if (owner instanceof Object && key !== undefined) edit(owner, key);
  return copy;
}

function placesIn(value: unknown, path: readonly Step[]): Step[][] {
  const entries: [Step, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : isRecord(value)
      ? Object.entries(value)
      : [];
  return entries.flatMap(([step, inside]) => {
    const place = [...path, step];
    return [place, ...placesIn(inside, place)];
  });
}
