import { decodeDataUrl, isDataUrl } from '../../base/data-url.ts';
import { schemaWords } from '../../base/errors/schema-words.ts';
import { suggest } from '../../base/errors/suggest.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { namedTwice, tooManyLevels } from '../../base/json-fault.ts';
import { namesIn } from '../../config/file/schema-faults.ts';
import { sshKeyProblem } from '../../pki/signature/ssh-keys.ts';
import {
  type ConfigFault,
  type IgnitionConfig,
  type IgnitionResource,
  jsonPath,
  readConfig,
  withoutNulls,
} from './config.ts';
import { NEWEST_SPEC, specOf } from './spec/spec.ts';
import { unitTextProblem } from './spec/unit-text.ts';
import { validateConfigText } from './validate.ts';

/**
 * Everything that is wrong with a config that a person wrote: also what Ignition reads over (a name that is there twice,
 * a key of no meaning), and what it writes to the host although nothing there can use it.
 */
export function validateGivenConfig(text: string): ConfigFault[] {
  const other = otherKind(text);
  if (other !== undefined) return [{ at: '(file)', problem: other }];
  const levels = tooManyLevels(parseJson(text));
  if (levels !== undefined) return [{ at: '(file)', problem: `has ${levels}` }];
  const twice = namedTwice(text);
  const read = readConfig(text);
  const faults = validateConfigText(text);
  const known = new Set(faults.map(({ at }) => at));
  return [
    ...faults,
    ...(twice === undefined ? [] : [{ at: '(file)', problem: `has ${twice}` }]),
    ...specFaults(text).filter(({ at }) => !known.has(at)),
    ...(read.ok ? entryFaults(read.config) : []),
    ...(read.ok ? childFaults(read.config).filter(({ at }) => !known.has(at)) : []),
  ];
}

/** Those of the configs that a person has put into this one. Of what cannot be decoded, or is elsewhere, is told already. */
function childFaults({ ignition: { config } }: IgnitionConfig): ConfigFault[] {
  const children = [
    ...(config?.merge ?? []).map((child, at) => ({ child, at: `merge[${at}]` })),
    ...(config?.replace === undefined ? [] : [{ child: config.replace, at: 'replace' }]),
  ];
  return children.flatMap(({ child, at }) => {
    const text = decodedText(child);
    if (text === undefined) return [];
    return validateGivenConfig(text).map((fault) => ({
      ...fault,
      at: `ignition.config.${at}: ${fault.at}`,
    }));
  });
}

function decodedText(child: IgnitionResource): string | undefined {
  try {
    return isDataUrl(child.source) ? decodeDataUrl(child).toString('utf8') : undefined;
  } catch {
    return undefined;
  }
}

const entryFaults = (config: IgnitionConfig): ConfigFault[] => [
  ...fileFaults(config),
  ...userFaults(config),
  ...unitFaults(config),
  ...unitFileFaults(config),
];

/** What people have instead of Ignition's JSON, which has no place to point at then. */
function otherKind(text: string): string | undefined {
  if (text.startsWith('\u001f')) return 'is compressed: decompress it first';
  const json = parseJson(text);
  const isObject = isRecord(json) && 'apiVersion' in json && 'kind' in json;
  if (isObject || (json === undefined && /^apiVersion:/m.test(text))) {
    return 'is an object of Kubernetes: an Ignition config is what is below spec.config of a MachineConfig, as JSON';
  }
  if (json !== undefined) return undefined;
  if (/^variant:/m.test(text)) return 'is a Butane config: translate it with butane first';
  if (!/^(?:ignition|storage|systemd|passwd):/m.test(text)) return undefined;
  return 'is YAML: an Ignition config is JSON, which butane makes of a Butane config (with variant and version)';
}

/** What Ignition refuses or reads over by the spec of the version that the config names. */
function specFaults(text: string): ConfigFault[] {
  const config = withoutNulls(parseJson(text));
  if (!isRecord(config)) return [];
  const named = isRecord(config.ignition) ? config.ignition.version : undefined;
  const [, version] = /^3\.([0-5])\.0$/.exec(String(named)) ?? [];
  const spec = specOf(version === undefined ? NEWEST_SPEC : Number(version));
  return (spec.safeParse(config).error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => unknownKey([...issue.path, key], namesIn(spec, issue.path)))
      : [{ at: jsonPath(issue.path), problem: schemaWords(issue) }],
  );
}

function unknownKey(path: readonly PropertyKey[], known: readonly string[]): ConfigFault {
  const key = String(path.at(-1));
  const at = jsonPath(path);
  if (IN_BUTANE.has(key)) {
    const problem =
      'is a key of Butane, which Ignition reads over: translate the file with butane first';
    return { at, problem };
  }
  const first = firstWith(path);
  if (first !== undefined) {
    const problem = `is a key of Ignition's spec 3.${first}.0, which is read over in an earlier one: name that version, or a later one`;
    return { at, problem };
  }
  const near = suggest(key, known);
  const meant = near === undefined ? '' : `; did you mean ${near}?`;
  return { at, problem: `is no key of Ignition, which reads over it${meant}` };
}

/** The first version of the spec that has a key. */
function firstWith(path: readonly PropertyKey[]): number | undefined {
  for (let minor = 1; minor <= NEWEST_SPEC; minor += 1) {
    if (namesIn(specOf(minor), path.slice(0, -1)).includes(String(path.at(-1)))) return minor;
  }
  return undefined;
}

const IN_BUTANE: ReadonlySet<string> = new Set([
  ...['inline', 'local', 'variant', 'trees', 'contents_local', 'with_mount_unit'],
  ...['password_hash', 'ssh_authorized_keys', 'ssh_authorized_keys_local', 'boot_device'],
]);

/** A mode in the notation of chmod, which JSON does not have: as a decimal number it is another one, such as 01204 for 644. */
const OCTAL: readonly number[] = [
  ...[400, 440, 444, 500, 550, 555, 600, 640, 644, 660, 664, 666],
  ...[700, 710, 711, 750, 755, 770, 775, 777],
];

/** Setuid, setgid and sticky. */
const SPECIAL_BITS = 0o7000;

function fileFaults({ storage }: IgnitionConfig): ConfigFault[] {
  const { files = [], directories = [] } = storage ?? {};
  return [...files, ...directories].flatMap(({ path, mode = 0 }) => {
    const octal = `0${mode.toString(8)}`;
    if (OCTAL.includes(mode)) {
      const meant = Number.parseInt(`${mode}`, 8);
      const problem = `has the mode ${mode}, which is ${octal}: JSON has no octal numbers; write ${meant} for 0${mode}`;
      return [{ at: path, problem }];
    }
    if ((mode & SPECIAL_BITS) === 0) return [];
    const problem = `has the mode ${mode}, which is ${octal}: Ignition sets neither setuid nor setgid nor sticky; have systemd-tmpfiles do it`;
    return [{ at: path, problem }];
  });
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

function unitFaults({ systemd }: IgnitionConfig): ConfigFault[] {
  return (systemd?.units ?? []).flatMap(({ name, contents, dropins = [] }) =>
    [
      { at: name, contents },
      ...dropins.map((each) => ({ ...each, at: `${name}.d/${each.name}` })),
    ].flatMap(({ at, contents = '' }) => {
      const problem = unitTextProblem(contents);
      return problem === undefined ? [] : [{ at, problem: `has contents ${problem}` }];
    }),
  );
}

/** A unit or drop-in that is written as a file, too: one would overwrite the other. */
function unitFileFaults({ storage, systemd }: IgnitionConfig): ConfigFault[] {
  const { files = [], directories = [], links = [] } = storage ?? {};
  const written = new Set(
    (systemd?.units ?? []).flatMap(({ name, contents, dropins = [] }) => [
      ...(contents ? [`/etc/systemd/system/${name}`] : []),
      ...dropins.flatMap((each) =>
        each.contents ? [`/etc/systemd/system/${name}.d/${each.name}`] : [],
      ),
    ]),
  );
  return [...files, ...directories, ...links]
    .filter(({ path }) => written.has(path))
    .map(({ path }) => ({ at: path, problem: 'is also below systemd.units: remove one' }));
}

/** Units that nothing starts, since what they enable is not said. */
export const withoutInstall = ({ systemd }: IgnitionConfig): string[] =>
  (systemd?.units ?? [])
    .filter(({ enabled, contents = '', dropins = [] }) => {
      const texts = [contents, ...dropins.map((each) => each.contents ?? '')];
      return (
        enabled === true && contents !== '' && !texts.some((text) => /^\s*\[Install\]/m.test(text))
      );
    })
    .map(({ name }) => name);
