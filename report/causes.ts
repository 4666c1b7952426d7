import type { Finding } from './bundle-view.ts';

/** A finding that can cause others, and the words by which another one names it. */
interface Cause {
  readonly rule: string;
  /** Only findings with such a title. */
  readonly about?: RegExp;
  /** What a title or a line of evidence of a consequence says. */
  readonly words?: RegExp;
  /** Besides `words`, one of these parts of the cause's title must be on the same line. */
  readonly names?: RegExp;
}

/** Refused or unanswered connections, as Go, Node and curl word them. */
const UNREACHABLE =
  'refused|no route to host|time(?:d )?-?out|deadline exceeded|unreachable|ECONN|EHOST|ETIMEDOUT';
const EXPIRED_WORDS = /certificate (?:has )?expired|CERT_HAS_EXPIRED|current time \S+ is after/i;
const API_WORDS = new RegExp(
  `(?::6443|/readyz|/livez)\\b.*(?:${UNREACHABLE})|(?:${UNREACHABLE}).*:6443\\b|API server (?:does not answer|has not answered)`,
  'i',
);
const ETCD_WORDS = new RegExp(
  `:2379\\b.*(?:${UNREACHABLE})|etcdserver: (?:no leader|leader changed|request timed out)|\\[-\\]etcd\\b|\\bchecks [^:]*\\betcd\\b`,
  'i',
);

/** Root causes first: a finding follows from the first that it names, never from a later one. */
const CAUSES: readonly Cause[] = [
  {
    rule: 'disk-io-errors',
    words: /\bI\/O error|input\/output error|\bEIO\b|read-only file system|\bEROFS\b/i,
  },
  {
    rule: 'disk-full',
    words:
      /no space left on device|\bENOSPC\b|disk quota exceeded|disk-?pressure|low on resource: (?:ephemeral-storage|inodes|nodefs|imagefs)/i,
  },
  {
    rule: 'memory-pressure',
    words:
      /out of memory|\boom-?kill|cannot allocate memory|\bENOMEM\b|memory-?pressure|low on resource: memory/i,
  },
  {
    rule: 'clock-skew',
    words: /not yet valid|current time \S+ is before|clock difference|used before issued/i,
  },
  { rule: 'certificate-not-renewed', words: /./, names: /^\/\S+/g },
  {
    rule: 'certificate-expired',
    about: /^(?!.*\/kubelet-server-current\.pem$)/,
    words: EXPIRED_WORDS,
  },
  {
    rule: 'certificate-not-yet-valid',
    words: /not yet valid|current time \S+ is before/i,
  },
  {
    rule: 'dns-record-missing',
    words:
      /no such host|ENOTFOUND|EAI_AGAIN|does not resolve|server misbehaving|could not resolve/i,
    names: /(?<![\w.-])(?:[\w-]+\.)+[a-z][\w-]*(?![\w.-])/g,
  },
  {
    rule: 'node-ip-changed',
    words: new RegExp(`${UNREACHABLE}|cannot assign requested address|EADDRNOTAVAIL`, 'i'),
    names: /(?<=\b(?:has|expected) )(?:\d+\.){3}\d+|(?<=\b(?:has|expected) )[\da-f]*:[\da-f:]+/g,
  },
  { rule: 'disk-refused' },
  { rule: 'manifest-rejected' },
  { rule: 'bootstrap-left-over' },
  { rule: 'ordering-cycle', words: /./, names: /(?<=did not start )[\w@.\\-]+/g },
  { rule: 'start-refused', words: /\bfailed\b/, names: /^[\w-]+/g },
  {
    rule: 'container-runtime-down',
    words: /container runtime is down|(?:crio|containerd)\.(?:sock|service)\b/,
  },
  { rule: 'image-damaged', words: /exec format error|exec: .*no such file/ },
  { rule: 'image-pull-failing', words: /image|pull/i, names: /(?<=^The image )\S+/g },
  {
    rule: 'etcd-alarm',
    words: /database space exceeded|\balarm:?\s?(?:NOSPACE|CORRUPT)|corrupt cluster/i,
  },
  { rule: 'etcd-no-leader', words: ETCD_WORDS },
  { rule: 'static-pod-crash-looping', about: /^etcd\b/, words: ETCD_WORDS },
  { rule: 'kubelet-down', words: /kubelet stopped posting|kubelet (?:is )?not running/i },
  {
    rule: 'static-pod-crash-looping',
    about: /^kube-apiserver\b/,
    words: API_WORDS,
  },
  { rule: 'static-pod-crash-looping' },
  { rule: 'api-not-answering', words: API_WORDS },
  { rule: 'kubelet-not-registered', words: /\bnode "?[\w.-]+"? not found|\bno Node\b/ },
  {
    rule: 'network-plugin-not-ready',
    words: /network ?plugin|network (?:is )?not ready|\bcni\b/i,
  },
  {
    rule: 'node-not-ready',
    words: /node\.kubernetes\.io\/(?:not-ready|unreachable)|\bnode \S+ (?:is|was) not ready/i,
  },
  { rule: 'csr-pending', words: /./, names: /\bcsr-[\w-]+/g },
  // It expires because its successor was not approved.
  { rule: 'certificate-expired', words: EXPIRED_WORDS },
  { rule: 'unit-failed', words: /\bfailed\b/i, names: /^[\w@.\\-]+/g },
];

/** Rules that report that something ended or is silent: a line that another one cites says why. */
const SYMPTOMS = [
  'start-refused',
  'static-pod-crash-looping',
  'kubelet-down',
  'api-not-answering',
  'unit-failed',
  'step-failed',
  'step-waiting',
];

/** Clocks of log lines and conditions differ by up to this much; a consequence may be noticed first. */
const NOTICED_LATER_MS = 10 * 60_000;

type Judged = Pick<Finding, 'rule' | 'severity' | 'title' | 'sinceMs' | 'evidence'>;

/**
 * The failing finding from which another one follows: one that it names in its title or its
 * evidence, or whose evidence it shares. Order and time only rule causes out.
 */
export function causeOf<T extends Judged>(finding: Judged, all: readonly T[]): T | undefined {
  const own = rankOf(finding);
  return all
    .filter(({ severity }) => severity === 'failing')
    .map((cause) => ({ cause, rank: rankOf(cause) }))
    .filter(({ cause, rank }) => rank < own && !isLater(cause, finding))
    .toSorted((a, b) => a.rank - b.rank)
    .find(({ cause }) => isNamed(cause, finding) || isShown(cause, finding))?.cause;
}

/** The place in CAUSES; consequences of everything are last. */
function rankOf(finding: Judged): number {
  const rank = CAUSES.findIndex((cause) => isAbout(cause, finding));
  return rank < 0 ? CAUSES.length : rank;
}

const isAbout = ({ rule, about }: Cause, finding: Judged): boolean =>
  rule === finding.rule && (about === undefined || about.test(finding.title));

function isNamed(cause: Judged, { title, evidence }: Judged): boolean {
  const { words, names } = CAUSES[rankOf(cause)] ?? {};
  if (words === undefined) return false;
  const subjects = names === undefined ? undefined : (cause.title.match(names) ?? []);
  return [title, ...evidence.map(({ text }) => text)].some(
    (text) => words.test(text) && (subjects?.some((subject) => hasWord(text, subject)) ?? true),
  );
}

/** Not as a part of a longer name: `api.x` is not in `myapi.x`. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const [before = '', after = ''] = [text[at - 1], text[at + word.length]];
    if (!/[\w.-]/.test(before) && !/[\w-]/.test(after)) return true;
  }
  return false;
}

const isShown = (cause: Judged, finding: Judged): boolean =>
  SYMPTOMS.includes(finding.rule) && citeSame(cause, finding);

/** Whether two findings cite the same line of a file. An API object has one line, for everything. */
export const citeSame = (a: Pick<Finding, 'evidence'>, b: Pick<Finding, 'evidence'>): boolean =>
  a.evidence.some(({ file, line }) =>
    b.evidence.some(
      (other) => !/^resources\/.*\.json$/.test(file) && file === other.file && line === other.line,
    ),
  );

const isLater = (cause: Judged, { sinceMs }: Judged): boolean =>
  cause.sinceMs !== undefined &&
  sinceMs !== undefined &&
  cause.sinceMs > sinceMs + NOTICED_LATER_MS;

/** A rule with less detail would only repeat what these say about the same line of a file. */
const TELLS_ALL = [
  'manifest-rejected',
  'disk-refused',
  'bootstrap-left-over',
  'node-ip-changed',
  'certificate-not-renewed',
  'backup-failed',
  'change-reverted',
] as const;
const GENERAL = ['start-refused', 'step-failed'];

export const repeats = (general: string, specific: string): boolean =>
  GENERAL.includes(general) && TELLS_ALL.some((rule) => rule === specific);
