import { isRecord } from '../../base/json.ts';
import type { ConfigDocument } from './document.ts';
import { readDocument } from './document.ts';
import { type Fault, fieldName } from './fault.ts';

/** `{{ v }}` of Helm, Jinja and Go, `${X}` of a shell, envsubst and OpenShift's templates. */
export const PLACEHOLDER = /\{\{[^{}]*\}\}|\$\{[A-Za-z_][\w.-]*\}/;
/** `<name>`, as documentation has it: the whole value. */
const TO_FILL_IN = /^<[A-Za-z][\w .-]*>$/;

/** Programs of a host read these themselves, with variables of their own: scripts, commands of SSH keys, comments of PEM. */
const OTHER_LANGUAGES: ReadonlySet<string> = new Set([
  ...['dispatch', 'sshKey', 'ssh_key', 'additionalTrustBundle', 'certificates'],
  // Nothing reads them here.
  ...['labels', 'annotations'],
]);

/** A fault of each value that a template engine, or a person, should have filled in. The value may be a secret. */
export const placeholderFaults = (document: ConfigDocument): Fault[] =>
  placesIn(document.value, []).map((path) => ({
    position: document.positionOf(path),
    field: fieldName(path),
    expected: 'a value',
    found: 'a placeholder of a template',
    fix: 'Fill it in: nothing here does.',
  }));

type Path = readonly (string | number)[];

function placesIn(value: unknown, path: Path): Path[] {
  if (typeof value === 'string') {
    // A document as a text, whose parts have the text's position.
    const inside = path.at(-1) === 'raw_nm_state_config' ? readDocument(value).value : undefined;
    if (isRecord(inside)) return placesIn(inside, path);
    return PLACEHOLDER.test(value) || TO_FILL_IN.test(value) ? [path] : [];
  }
  if (Array.isArray(value)) {
    return value.flatMap((each: unknown, at) => placesIn(each, [...path, at]));
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inside]) =>
    OTHER_LANGUAGES.has(key) ? [] : placesIn(inside, [...path, key]),
  );
}
