import { isRecord } from '../../base/json.ts';
import { pathsOf, type SchemaIssue } from './schema-faults.ts';

/**
 * The top-level fields without issues, so that faults between those are found in the same run. `sections`: those whose
 * fields are all optional, where an invalid field leaves the others usable.
 */
export function soundFields(
  value: unknown,
  issues: readonly SchemaIssue[],
  sections: readonly PropertyKey[],
): Record<string, unknown> {
  if (!isRecord(value)) return {};
  const placeOf = ([first = '', second]: readonly PropertyKey[]): string => {
    const isInside = sections.includes(first) && second !== undefined;
    return isInside ? `${String(first)} ${String(second)}` : String(first);
  };
  const wrong = new Set(issues.flatMap(pathsOf).map(placeOf));
  const fieldsIn = (mapping: Record<string, unknown>, above: string) =>
    Object.entries(mapping).filter(([name]) => !wrong.has(`${above}${name}`));
  const sound = fieldsIn(value, '').map(([name, field]) => {
    const isSection = sections.includes(name) && isRecord(field);
    return [name, isSection ? Object.fromEntries(fieldsIn(field, `${name} `)) : field];
  });
  return Object.fromEntries(sound);
}
