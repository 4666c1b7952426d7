import { Failure } from '../../../lib/base/errors/failure.ts';
import { isRecord, parseJson } from '../../../lib/base/json.ts';
import { isSecretValue } from '../../../lib/secrets/redact/names.ts';
import { type GatherHost, own, patient } from '../gather-host.ts';
import type { Source } from '../source.ts';
import { madeJson } from './made.ts';
import { CALL_MS, type ListedContainer, type RuntimeView, withRuntime } from './runtime-view.ts';

/** Base name of a container's files in the bundle: `NAME-ID`. */
export const containerName = ({ name, id }: ListedContainer) => `${fileName(name)}-${fileName(id)}`;

/** The runtime is trusted to name containers, but not to name files. */
export const fileName = (text: string) =>
  text.replaceAll(/[^A-Za-z0-9._-]|^\.+/g, '_').slice(0, 200);

/** Listings of the runtime's contents. */
export function runtimeLists(host: GatherHost, view: RuntimeView): Source[] {
  const at = (name: string) => own(host, `containers/${name}`);
  return [
    madeJson(at('containers.json'), async () => view.containers.map(summary)),
    madeJson(at('sandboxes.json'), async () =>
      view.sandboxes.map(({ createdAtMs, ...rest }) => ({ ...rest, createdAt: iso(createdAtMs) })),
    ),
    madeJson(at('images.json'), (_, signal) =>
      withRuntime(host, (runtime) =>
        runtime.listImages({ signal, deadlineMs: patient(host, CALL_MS) }),
      ),
    ),
    madeJson(at('runtime.json'), (_, signal) =>
      withRuntime(host, async (runtime) => {
        const limits = { signal, deadlineMs: patient(host, CALL_MS) };
        const [version, conditions] = await Promise.all([
          runtime.version(limits),
          runtime.conditions(limits),
        ]);
        return { socket: runtime.socket, ...version, conditions };
      }),
    ),
  ];
}

function summary({ id, name, attempt, createdAtMs, status, pod, ...rest }: ListedContainer) {
  return {
    id,
    name,
    attempt,
    state: status?.state ?? rest.state,
    createdAt: iso(createdAtMs),
    startedAt: iso(status?.startedAtMs ?? 0),
    finishedAt: iso(status?.finishedAtMs ?? 0),
    exitCode: status?.exitCode,
    reason: status?.reason,
    message: status?.message,
    image: status?.image || rest.image,
    imageRef: rest.imageRef,
    pod,
    logPath: status?.logPath,
  };
}

/** Omitted for events that have not happened. */
const iso = (ms: number) => (ms === 0 ? undefined : new Date(ms).toISOString());

/** Everything the runtime knows about a container, in the format of `crictl inspect`. */
export function inspection(host: GatherHost, container: ListedContainer): Source {
  const path = own(host, `containers/${containerName(container)}.inspect`);
  return madeJson(path, (_, signal) =>
    withRuntime(host, async (runtime) => {
      const limits = { signal, deadlineMs: patient(host, CALL_MS) };
      const details = await runtime.inspectContainer(container.id, limits);
      if (details === undefined) throw new Failure('retry', 'the container no longer exists');
      const { name, attempt, state, image, createdAtMs, startedAtMs, finishedAtMs, ...rest } =
        details.status;
      const status = {
        ...rest,
        metadata: { attempt, name },
        state: `CONTAINER_${state.toUpperCase()}`,
        createdAt: iso(createdAtMs),
        startedAt: iso(startedAtMs),
        finishedAt: iso(finishedAtMs),
        image: { image },
      };
      return { status, info: information(details.info) };
    }),
  );
}

/** Runtime-specific information: a JSON document named `info`, or named values. */
function information(info: Readonly<Record<string, string>>): unknown {
  const parsed = Object.entries(info).map(([key, text]): [string, unknown] => [
    key,
    parseJson(text) ?? text,
  ]);
  const all = Object.fromEntries(parsed);
  return withoutEnvironment(isRecord(all.info) ? { ...all, ...all.info, info: undefined } : all);
}

/** Only CRI writes environments as `{key, value}`: removed because they may hold secrets. */
function withoutEnvironment(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEnvironment);
  if (!isRecord(value)) return value;
  const { key, value: set } = value;
  if (typeof key === 'string' && typeof set === 'string' && isSecretValue(key, set)) {
    return { key, value: '<redacted>' };
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutEnvironment(inner)]),
  );
}
