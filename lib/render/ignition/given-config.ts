import { suggest } from '../../base/errors/suggest.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { namedTwice } from '../../base/json-fault.ts';
import { sshKeyProblem } from '../../pki/signature/ssh-keys.ts';
import { type ConfigFault, type IgnitionConfig, jsonPath, readConfig } from './config.ts';
import { SPEC_KEYS, type SpecKeys } from './spec-keys.ts';
import { validateConfigText } from './validate.ts';

/**
 * Everything that is wrong with a config that a person wrote: also what Ignition reads over (a name that is there twice,
 * a key of no meaning), and what it writes to the host although nothing there can use it.
 */
export function validateGivenConfig(text: string): ConfigFault[] {
  const other = otherKind(text);
  if (other !== undefined) return [{ at: '(file)', problem: other }];
  const twice = namedTwice(text);
  const read = readConfig(text);
  return [
    ...validateConfigText(text),
    ...(twice === undefined ? [] : [{ at: '(file)', problem: `has ${twice}` }]),
    ...unknownKeys(parseJson(text), SPEC_KEYS, []),
    ...(read.ok ? entryFaults(read.config) : []),
  ];
}

const entryFaults = (config: IgnitionConfig): ConfigFault[] => [
  ...fileFaults(config),
  ...userFaults(config),
  ...unitFaults(config),
];

/** What people have instead of Ignition's JSON, which has no place to point at then. */
function otherKind(text: string): string | undefined {
  if (text.startsWith('\u001f')) return 'is compressed: decompress it first';
  if (/^variant:/m.test(text)) return 'is a Butane config: translate it with butane first';
  if (!/^apiVersion:/m.test(text)) return undefined;
  return 'is YAML of Kubernetes: an Ignition config is JSON, such as what is below spec.config of a MachineConfig';
}

type Path = readonly (string | number)[];

function unknownKeys(value: unknown, known: SpecKeys, path: Path): ConfigFault[] {
  if (Array.isArray(value)) {
    return value.flatMap((each: unknown, at) => unknownKeys(each, known, [...path, at]));
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inside]) => {
    const below = Object.hasOwn(known, key) ? known[key] : undefined;
    if (below !== undefined) return unknownKeys(inside, below, [...path, key]);
    const near = suggest(key, Object.keys(known));
    const meant = near === undefined ? '' : `; did you mean ${near}?`;
    const problem = IN_BUTANE.has(key)
      ? 'is a key of Butane, which Ignition reads over: translate the file with butane first'
      : `is no key of Ignition, which reads over it${meant}`;
    return [{ at: jsonPath([...path, key]), problem }];
  });
}

const IN_BUTANE: ReadonlySet<string> = new Set([
  ...['inline', 'local', 'variant', 'trees', 'contents_local', 'with_mount_unit'],
  ...['password_hash', 'ssh_authorized_keys', 'ssh_authorized_keys_local', 'boot_device'],
]);

/** Those of Ignition (internal/util, and config/shared/errors of its source). */
const SOURCE = /^(?:https?|tftp|s3|gs|data|arn):/;

/** A mode in the notation of chmod, which JSON does not have: as a decimal number it is another one, such as 01204 for 644. */
const OCTAL: readonly number[] = [
  ...[400, 440, 444, 500, 550, 555, 600, 640, 644, 660, 664, 666],
  ...[700, 710, 711, 750, 755, 770, 775, 777],
];

function fileFaults({ storage }: IgnitionConfig): ConfigFault[] {
  const { files = [], directories = [] } = storage ?? {};
  return [
    ...[...files, ...directories].flatMap(({ path, mode }) => {
      if (mode === undefined || !OCTAL.includes(mode)) return [];
      const meant = Number.parseInt(`${mode}`, 8);
      const problem = `has the mode ${mode}, which is 0${mode.toString(8)}: JSON has no octal numbers; write ${meant} for 0${mode}`;
      return [{ at: path, problem }];
    }),
    ...files.flatMap(({ path, contents, append = [] }) =>
      [...(contents === undefined ? [] : [contents]), ...append]
        .filter(({ source }) => source !== undefined && source !== '' && !SOURCE.test(source))
        .map(() => ({
          at: path,
          problem:
            'has a source that Ignition does not fetch: expected a URL of data, http or https',
        })),
    ),
  ];
}

/** As crypt(5) writes them, or a mark that no password is. */
const HASH = /^(?:\$[\w.]+\$.+|[!*].*|[./0-9A-Za-z]{13})?$/;

function userFaults({ passwd }: IgnitionConfig): ConfigFault[] {
  return (passwd?.users ?? []).flatMap(({ name, passwordHash, sshAuthorizedKeys = [] }) => {
    const key = sshAuthorizedKeys.map(sshKeyProblem).find((problem) => problem !== undefined);
    return [
      ...(typeof passwordHash === 'string' && !HASH.test(passwordHash)
        ? [
            {
              at: `user ${name}`,
              problem:
                'has a passwordHash that is none: expected what "mkpasswd -m yescrypt" prints',
            },
          ]
        : []),
      ...(key === undefined
        ? []
        : [
            {
              at: `user ${name}`,
              problem: `has an SSH key that logs nobody in: expected ${key.expected}, found ${key.found}. ${key.fix}`,
            },
          ]),
    ];
  });
}

/** systemd reads over a setting that is in no section. */
function unitFaults({ systemd }: IgnitionConfig): ConfigFault[] {
  const problem = 'has contents that do not begin with a section such as [Service]';
  return (systemd?.units ?? []).flatMap(({ name, contents, dropins = [] }) =>
    [{ at: name, contents }, ...dropins.map((each) => ({ ...each, at: `${name}.d/${each.name}` }))]
      .filter(({ contents = '' }) => /^(?:\s*(?:[#;].*)?\n)*\s*[^\s#;[]/.test(contents))
      .map(({ at }) => ({ at, problem })),
  );
}

/** Units that nothing starts, since what they enable is not said. */
export const withoutInstall = ({ systemd }: IgnitionConfig): string[] =>
  (systemd?.units ?? [])
    .filter(({ enabled, contents = '', dropins = [] }) => {
      const texts = [contents, ...dropins.map((each) => each.contents ?? '')];
      return (
        enabled === true && contents !== '' && !texts.some((text) => /^\[Install\]/m.test(text))
      );
    })
    .map(({ name }) => name);
