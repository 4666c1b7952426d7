import type { BundleView, Evidence } from '../bundle-view.ts';
import { nameIndex } from './evidence.ts';
import { listAt, msAt, textAt } from './values.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly sinceMs?: number | undefined;
}

/** An API object, as stored in `resources/NAME.json`. */
export interface ApiObject {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly createdMs?: number | undefined;
  readonly conditions: readonly Condition[];
  readonly raw: unknown;
  /** Where its name is in the file. */
  evidence(): Evidence[];
}

const pathOf = (name: string) => `resources/${name}.json`;

export const hasObjects = (view: BundleView, name: string): boolean =>
  view.paths().includes(pathOf(name));

export function reportedObjects(view: BundleView, name: string): ApiObject[] {
  const path = pathOf(name);
  const whereNamed = nameIndex(view, path);
  return listAt(view.json(path), 'items').flatMap((raw) => {
    const own = textAt(raw, 'metadata', 'name');
    if (own === undefined) return [];
    return [
      {
        name: own,
        namespace: textAt(raw, 'metadata', 'namespace'),
        createdMs: msAt(raw, 'metadata', 'creationTimestamp'),
        conditions: listAt(raw, 'status', 'conditions').map(condition),
        raw,
        evidence: () => whereNamed(own),
      },
    ];
  });
}

function condition(raw: unknown): Condition {
  return {
    type: textAt(raw, 'type') ?? '',
    status: textAt(raw, 'status') ?? '',
    reason: textAt(raw, 'reason') ?? '',
    message: textAt(raw, 'message') ?? '',
    sinceMs: msAt(raw, 'lastTransitionTime'),
  };
}

export const conditionOf = (object: ApiObject, type: string): Condition | undefined =>
  object.conditions.find((one) => one.type === type);

export const fullName = ({ namespace, name }: ApiObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;
