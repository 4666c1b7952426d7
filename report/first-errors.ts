import { parseJson } from '../lib/base/json.ts';
import type { BundleView, Evidence } from './bundle-view.ts';
import { copy, evidence } from './reading/evidence.ts';
import { hostFilesIn } from './reading/hosts.ts';
import { firstLike } from './reading/journal.ts';
import { at, numberAt, textAt } from './reading/values.ts';

export interface FirstErrorOf {
  /** A unit or a container. */
  readonly unit: string;
  readonly atMs: number;
  readonly text: string;
  readonly evidence: Evidence;
}

/** Errors and fatal messages of klog, errors of logfmt and etcd, and unit failures reported by systemd. */
const ERROR =
  /\s[EF]\d{4} \d\d:\d\d:\d\d\.\d+|level=(?:error|fatal)|"level":"(?:error|fatal|panic)"|Main process exited, code=\w+, status=(?!0\/)|Failed with result|panic: /;
const KLOG = /^.*?[EF]\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ (\S+\] )?/;
const SHOWN = 200;

/** The first error of each unit and container, by time: possible causes of the others. */
export function firstErrors(view: BundleView): FirstErrorOf[] {
  const first = new Map<string, FirstErrorOf>();
  const take = (error: FirstErrorOf) => {
    const known = first.get(error.unit);
    if (known === undefined || error.atMs < known.atMs) first.set(error.unit, error);
  };
  for (const path of hostFilesIn(view, 'journals/')) {
    if (path.endsWith('/errors.jsonl') || path === 'journals/errors.jsonl') {
      for (const error of fromErrors(view, path)) take(error);
    } else if (path.endsWith('.log')) takeFirst(view, path, nameOf(path), take);
  }
  for (const path of hostFilesIn(view, 'containers/tails/')) {
    takeFirst(view, path, `container ${nameOf(path).replace(/-[0-9a-f]{12,64}$/, '')}`, take);
  }
  return [...first.values()].toSorted((a, b) => a.atMs - b.atMs);
}

const nameOf = (path: string) => /([^/]+)\.log$/.exec(path)?.[1] ?? path;

function takeFirst(
  view: BundleView,
  path: string,
  unit: string,
  take: (error: FirstErrorOf) => void,
): void {
  const line = firstLike(view, path, ERROR);
  if (line === undefined) return;
  take({ unit, atMs: line.atMs, text: copy(brief(line.text)), evidence: line.evidence });
}

/** Drops what the table already shows; of zap's JSON it keeps only the message. */
function brief(text: string): string {
  const said = text.startsWith('{') ? parseJson(text) : undefined;
  const words = [textAt(said, 'msg'), textAt(said, 'error')].filter((part) => part !== undefined);
  return (words.length > 0 ? words.join(': ') : text.replace(KLOG, '')).slice(0, SHOWN);
}

/** Entries that journald classifies as errors: priority `err` and above. */
function fromErrors(view: BundleView, path: string): FirstErrorOf[] {
  const seen = new Set<string>();
  return view.lines(path).flatMap((line, index) => {
    const raw = parseJson(line);
    const micros = numberAt(raw, '__REALTIME_TIMESTAMP');
    if (micros === undefined) return [];
    const unit = unitOf(raw) ?? textAt(raw, 'SYSLOG_IDENTIFIER') ?? 'journal';
    const name = unit.replace(/\.service$/, '');
    if (seen.has(name)) return [];
    seen.add(name);
    const text = messageOf(raw).slice(0, SHOWN);
    return [{ unit: name, atMs: micros / 1000, text, evidence: evidence(path, index + 1, text) }];
  });
}

/** An agent's event is written by another process, whose unit may be unknown. */
const unitOf = (raw: unknown) => textAt(raw, '_SYSTEMD_UNIT') ?? textAt(raw, 'OBJECT_SYSTEMD_UNIT');

/** journalctl writes text that is not UTF-8 as an array of bytes. */
function messageOf(raw: unknown): string {
  const message = at(raw, 'MESSAGE');
  if (typeof message === 'string') return message;
  if (!Array.isArray(message)) return 'no message';
  const bytes = message.filter((byte) => typeof byte === 'number');
  return Buffer.from(bytes).toString('utf8');
}
