import { json, M, notFound, type RuleCase, shown, step } from './rule-case.ts';

const certificate = (file: string, notBefore: string, notAfter: string, more: object = {}) => ({
  file,
  index: 0,
  subject: 'CN=etcd-server',
  issuer: 'CN=etcd-ca',
  names: [],
  notBefore: `${notBefore}T00:00:00.000Z`,
  notAfter: `${notAfter}T00:00:00.000Z`,
  serial: '1',
  isAuthority: false,
  sha256: 'ab',
  ...more,
});
const certificates = (...list: object[]) => ({
  [`${M}/certificates/certificates.json`]: json(list),
});
const SERVER = '/etc/kubernetes/static-pod-resources/etcd/server.crt';
const SITE = '/etc/kubernetes/pki/kube-apiserver/site-api.crt';
const SERVING = '/var/lib/kubelet/pki/kubelet-server-current.pem';

const APPROVES_SERVING =
  /Kubernetes payload, run "systemctl start sno-renew".* OpenShift, .*"oc get csr".*"oc adm certificate approve/;

const chrony = (offset: string) => ({
  [`${M}/systemd/chrony.txt`]: `Reference ID    : C0A87E01 (192.168.126.1)\nSystem time     : ${offset} of NTP time\nLeap status     : Normal\n`,
});
const units = (...blocks: string[]) => ({ [`${M}/systemd/show.txt`]: blocks.join('\n') });

export const hostCases: readonly RuleCase[] = [
  {
    rule: 'certificate-expired',
    of: 'a serving certificate that ended yesterday',
    files: certificates(certificate(SERVER, '2025-11-20', '2026-11-20')),
    finds: [
      {
        severity: 'failing',
        title: /CN=etcd-server expired 39 h 20 min ago/,
        at: `${M}/certificates/certificates.json:9`,
      },
    ],
  },
  {
    rule: 'certificate-expired',
    of: 'an expired CA, which a restart does not fix',
    files: certificates(
      certificate('/etc/ca.crt', '2016-11-20', '2026-11-20', { isAuthority: true }),
    ),
    finds: [{ severity: 'failing', title: /CN=etcd-server/, todo: /reinstall the host/ }],
  },
  {
    rule: 'certificate-expired',
    of: "old ones of rotation: the kubelet's, an operator's revision, a bundle's",
    files: certificates(
      certificate(
        '/var/lib/kubelet/pki/kubelet-client-2026-01-02-10-00-00.pem',
        '2026-01-01',
        '2026-05-01',
      ),
      certificate('/var/lib/kubelet/pki/kubelet-client-current.pem', '2026-11-01', '2027-05-01'),
      certificate(
        '/etc/kubernetes/static-pod-resources/kube-apiserver-pod-5/tls.crt',
        '2026-01-01',
        '2026-02-01',
      ),
      certificate(
        '/etc/kubernetes/static-pod-resources/kube-apiserver-pod-12/tls.crt',
        '2026-11-01',
        '2027-02-01',
      ),
      certificate('/etc/ca-bundle.crt', '2025-01-01', '2026-01-01', {
        isAuthority: true,
        subject: 'CN=old',
      }),
      certificate('/etc/ca-bundle.crt', '2025-12-01', '2035-12-01', {
        isAuthority: true,
        subject: 'CN=new',
      }),
    ),
  },
  {
    rule: 'certificate-expired',
    of: 'an authority of the site that nobody shows',
    files: certificates(
      certificate('/etc/pki/ca-trust/source/anchors/site.crt', '2016-11-20', '2026-11-20'),
    ),
    finds: [{ severity: 'warning', title: /site.crt/ }],
  },
  {
    rule: 'certificate-expired',
    of: "the kubelet's serving certificate, apart from others",
    files: certificates(
      certificate(SERVER, '2025-11-20', '2026-11-20'),
      certificate(SERVING, '2025-11-19', '2026-11-19', { subject: 'CN=system:node:sno' }),
    ),
    finds: [
      { severity: 'failing', title: /CN=etcd-server expired/, todo: /sno-certificates kubelet/ },
      {
        severity: 'failing',
        title: /system:node:sno expired .*kubelet-server-current\.pem$/,
        todo: new RegExp(`^Check the clock first .*${APPROVES_SERVING.source}`),
      },
    ],
  },
  {
    rule: 'certificate-expires-soon',
    of: "the kubelet's serving certificate, apart from others",
    files: certificates(
      certificate(SERVER, '2025-12-01', '2026-12-01'),
      certificate(SERVING, '2025-12-01', '2026-12-01', { subject: 'CN=system:node:sno' }),
    ),
    finds: [
      { severity: 'warning', title: /CN=etcd-server expires/, todo: /without a restart/ },
      { severity: 'warning', title: /system:node:sno expires/, todo: APPROVES_SERVING },
    ],
  },
  {
    rule: 'certificate-expires-soon',
    of: 'the certificate that the site gave, apart from others',
    files: certificates(
      certificate(SERVER, '2025-12-01', '2026-12-01'),
      certificate(SITE, '2025-12-01', '2026-12-01', { subject: 'CN=api.shop.example.com' }),
    ),
    finds: [
      { severity: 'warning', title: /CN=etcd-server expires/, todo: /without a restart/ },
      { severity: 'warning', title: /CN=api\.shop.* expires/, todo: /^The site gave .*volume/ },
    ],
  },
  {
    rule: 'certificate-expired',
    of: 'the certificate that the site gave',
    files: certificates(certificate(SITE, '2025-11-20', '2026-11-20')),
    finds: [{ severity: 'failing', title: /site-api\.crt/, todo: /clock first.*The site gave/ }],
  },
  {
    rule: 'certificate-expires-soon',
    of: 'ten days left of a year',
    files: certificates(certificate(SERVER, '2025-12-01', '2026-12-01')),
    finds: [{ severity: 'warning', title: /expires in 9 days/ }],
  },
  {
    rule: 'certificate-expires-soon',
    of: 'a third left of 30 days, as rotation leaves it',
    files: certificates(certificate(SERVER, '2026-11-01', '2026-12-01')),
  },
  {
    rule: 'certificate-not-yet-valid',
    of: 'a beginning tomorrow',
    files: certificates(certificate(SERVER, '2026-11-22', '2027-11-22')),
    finds: [
      {
        severity: 'failing',
        title: /1 certificate is not valid yet.*CN=etcd-server/,
        todo: /"systemctl start sno-renew"/,
      },
    ],
  },
  {
    rule: 'certificate-not-yet-valid',
    of: 'a beginning yesterday',
    files: certificates(certificate(SERVER, '2026-11-20', '2027-11-20')),
  },
  {
    rule: 'clock-skew',
    of: 'two minutes behind',
    files: chrony('121.5 seconds slow'),
    finds: [
      {
        severity: 'failing',
        title: /2 min 2 s behind its time servers/,
        at: `${M}/systemd/chrony.txt:2`,
      },
    ],
  },
  {
    rule: 'clock-skew',
    of: 'a clock that was set while an agent ran',
    files: {
      [`${M}/steps/post-reboot.jsonl`]:
        step('15:00:00', 'api', 'started') +
        step('16:00:05', 'api', 'done', undefined, { up: 273_205 }),
    },
    finds: [{ severity: 'warning', title: /set forward by .* while post-reboot ran/ }],
  },
  {
    rule: 'clock-skew',
    of: 'microseconds, and steps that took their time',
    files: {
      ...chrony('0.000012 seconds fast'),
      [`${M}/steps/post-reboot.jsonl`]:
        step('15:00:00', 'api', 'started') + step('15:10:00', 'api', 'done'),
    },
  },
  {
    rule: 'container-runtime-down',
    of: 'a runtime that failed',
    files: units(
      shown('kubelet.service', 'active', 'running'),
      shown('containerd.service', 'failed', 'failed', { result: 'exit-code' }),
    ),
    finds: [
      {
        severity: 'failing',
        title: /containerd.service is failed/,
        at: `${M}/systemd/show.txt:10`,
      },
    ],
  },
  {
    rule: 'container-runtime-down',
    of: 'a runtime that runs and does not answer',
    files: units(shown('containerd.service', 'active', 'running')),
    failures: [{ path: `${M}/containers/containers.json`, reason: 'not complete after 10 s' }],
    finds: [{ severity: 'failing', title: /is down: not complete after 10 s/ }],
  },
  {
    rule: 'container-runtime-down',
    of: 'the runtime of a live host before its time',
    files: { 'bootstrap/systemd/show.txt': shown('crio.service', 'inactive', 'dead') },
  },
  {
    rule: 'container-runtime-down',
    of: 'CRI-O beside a containerd that nobody uses',
    files: units(
      shown('crio.service', 'active', 'running'),
      shown('containerd.service', 'inactive', 'dead'),
    ),
  },
  {
    rule: 'kubelet-down',
    of: 'a kubelet whose requirement failed',
    files: units(
      shown('kubelet.service', 'inactive', 'dead'),
      shown('sno-restore.service', 'failed', 'failed', { result: 'exit-code' }),
    ),
    finds: [
      {
        severity: 'failing',
        title: /inactive, dead\), since sno-restore.service failed/,
        todo: /then run "systemctl start kubelet bootkube"\.$/,
      },
    ],
  },
  {
    rule: 'kubelet-down',
    of: 'the kubelet of an all-in-one host',
    files: units(
      shown('kubelet.service', 'inactive', 'dead'),
      shown('sno-payload.service', 'failed', 'failed', { result: 'exit-code' }),
      shown('aiokube.service', 'activating', 'start'),
    ),
    finds: [
      {
        severity: 'failing',
        title: /since sno-payload.service failed/,
        todo: /then run "systemctl start aiokube"\.$/,
      },
    ],
  },
  {
    rule: 'kubelet-down',
    of: 'the kubelet of a worker',
    files: units(
      shown('kubelet.service', 'inactive', 'dead'),
      shown('sno-payload.service', 'failed', 'failed', { result: 'exit-code' }),
      shown('sno-worker.service', 'activating', 'start'),
      shown('sno-api.service', 'active', 'running'),
    ),
    finds: [
      {
        severity: 'failing',
        title: /since sno-payload.service failed/,
        todo: /then run "systemctl start sno-worker"\.$/,
      },
    ],
  },
  {
    rule: 'kubelet-down',
    of: 'one that the agent of a worker has not started yet',
    files: units(
      shown('kubelet.service', 'inactive', 'dead'),
      shown('sno-worker.service', 'activating', 'start'),
      shown('sno-api.service', 'active', 'running'),
    ),
  },
  {
    rule: 'kubelet-down',
    of: 'one that aiokube has not started yet',
    files: {
      ...units(
        shown('kubelet.service', 'inactive', 'dead'),
        shown('aiokube.service', 'failed', 'failed', { result: 'exit-code' }),
      ),
      [`${M}/systemd/units.json`]: json([notFound('bootkube.service')]),
    },
  },
  {
    rule: 'kubelet-down',
    of: 'a kubelet that ends again and again',
    files: units(shown('kubelet.service', 'activating', 'auto-restart', { restarts: 41 })),
    finds: [{ severity: 'failing', title: /systemd has started it 42 times/ }],
  },
  {
    rule: 'kubelet-down',
    of: 'a kubelet whose start is queued',
    files: {
      ...units(shown('kubelet.service', 'inactive', 'dead')),
      [`${M}/systemd/jobs.txt`]: 'JOB UNIT TYPE STATE\n12 kubelet.service start waiting\n',
    },
  },
  {
    rule: 'kubelet-down',
    of: 'a kubelet that waits for its turn, and one of the live host',
    files: {
      ...units(
        shown('kubelet.service', 'inactive', 'dead'),
        shown('sno-payload.service', 'activating', 'start'),
      ),
      'bootstrap/systemd/show.txt': shown('kubelet.service', 'inactive', 'dead'),
    },
  },
  {
    rule: 'unit-failed',
    of: 'one that matters and one that does not, found in the list alone',
    files: {
      [`${M}/systemd/units.json`]: json([
        { unit: 'sno-label.service', load: 'loaded', active: 'failed', sub: 'failed' },
        { unit: 'cups.service', load: 'loaded', active: 'failed', sub: 'failed' },
      ]),
    },
    finds: [
      { severity: 'failing', title: /sno-label.service failed/, at: `${M}/systemd/units.json:3` },
      { severity: 'warning', title: /cups.service failed/ },
    ],
  },
  {
    rule: 'unit-failed',
    of: 'an agent whose journal says more',
    files: {
      ...units(
        shown('bootkube.service', 'failed', 'failed'),
        shown('kubelet.service', 'active', 'running'),
      ),
      [`${M}/steps/post-reboot.jsonl`]: step('15:00:00', 'clean', 'failed', 'no'),
    },
  },
];
