/**
 * Failure codes and their meanings. Codes are for programs: log bundle findings,
 * journal queries (`CODE=`), fleet automation. A released code keeps its meaning;
 * the sentences may change.
 */
export const FAILURE_CODES = {
  // For failures without a specific code, by kind.
  unavailable: 'something does not answer or does not exist yet; retrying can help',
  usage: 'arguments, configuration or input cannot be used; nothing was changed',
  deadline: 'a deadline passed before the awaited condition was met',
  refused: 'retrying cannot help',
  bug: 'a programming error; please report it with its stack',
  error: 'an error of the operating system or of a library',

  // Steps and agents.
  'already-running': 'another process of the agent holds the lock',
  'not-ended': 'a step kept running after it was told to stop',
  postcondition: 'a step ran, and its postcondition is not met',
  'journal-unwritable': 'the step journal cannot be written',
  'bootkube-failed': 'bootkube failed permanently, so there is nothing to write to the disk',
  'command-failed': 'a program exited with an error',
  'keeps-ending':
    'a unit or a container of a static pod ends again and again with the same error, by which it will never run',
  'rpc-failed': 'a gRPC server (etcd, container runtime) refused a call or did not answer',
  'api-error': 'a request to the API server failed',

  // Preflight: each check under its own name.
  preflight: 'checks of the host failed; each part has its own code',
  'preflight-network': 'the networkConfig was not applied',
  'preflight-hostname': 'the host has no final, valid name',
  'preflight-address': 'the host does not have exactly one address in the machine networks',
  'dns-record-missing': 'a DNS name of the cluster does not resolve to this host',
  'dns-search-wildcard': 'a search domain of the host answers names that do not exist',
  'address-missing': 'the host has no address in the machine networks yet',
  'preflight-clock': 'the clock is outside the validity of the certificates',
  'preflight-memory': 'the host has too little memory',
  'preflight-cpus': 'the CPUs to reserve are not those of the host',
  'preflight-network-plugins':
    'the container runtime would not find the plugins of the pod network',
  'preflight-platform':
    'the cgroup version or the container runtime of the host cannot run the Kubernetes of the payload',
  'preflight-disk-labels': 'another disk has a file system that the system would take for its own',
  'preflight-disk': 'the installation disk is too small or cannot be read',

  // The installation disk.
  'disk-not-found': 'the installation disk does not exist',
  'disk-unsuitable': 'the device is ambiguous or is not a disk that can be booted',
  'disk-in-use': 'the disk or a partition of it is in use',
  'disk-other-system': 'the disk holds another system',
  'disk-installed': 'the disk holds a finished installation of this cluster',
  'disk-other-machine': 'the disk holds the installation of another machine',
  'disk-kept-partitions': 'partitions to keep do not exist, or cannot be kept',
  'disk-full': 'a file system has no room for what must be written',

  // Payload and executable.
  'payload-mismatch': 'the payload is not the one that the installation was created for',
  'payload-damaged': 'a file of the payload is missing or damaged',
  'executable-mismatch': 'the executable is not the one that the installation was created for',

  // A host that bootstraps on its own disk.
  'bundle-gone': 'the bundle of a host that bootstraps on its own disk cannot be fetched',
  'bundle-mismatch': 'the bundle is not the one that the Ignition config was created with',
  'in-place-unsupported': 'an Ignition config asks for what only Ignition itself can apply',

  // The site volume.
  'reconfigure-refused': 'this host cannot be given the configuration of a site',
  'site-link': 'a network adapter has no link',
  'site-network': 'the network of the site cannot be applied',
  'site-check': 'a server of the site does not answer, or the network is not as configured',
  'site-login': 'the keys of the site cannot log in, or others can',
  'site-name': 'a name of the site does not show its certificate',
  'medium-refused': 'a medium has something else than some regular files, or cannot be read',

  // Bootstrap and pivot.
  'image-mismatch': 'an image is not the one of its digest, or is for another architecture',
  'render-failed': "a render stage of OpenShift's release failed, or its result is incomplete",
  'manifests-rejected': 'manifests could not be applied; each part is one manifest',
  'manifest-rejected': 'a manifest could not be decoded or was rejected by the API server',
  'identity-changed': 'the name or an address of the host does not match its certificates',
  'address-moved':
    'the host has lost an address of its Node, and does not follow it to what it has instead',
  'snapshot-unusable':
    'the etcd snapshot or its record is missing, damaged or from another cluster',
  'leftover-remains': 'a file or key of the bootstrap could not be deleted',

  // Sealed keys.
  'seal-unavailable':
    "the key of a sealed host cannot be sealed or opened: its TPM or its systemd's secret is missing or has changed",
  'seal-closed': 'the keys of a sealed host were not opened at this boot',
  'sealed-file-damaged':
    'a sealed file is missing or damaged, or lies beside files that are not sealed',

  // Renewal on the installed host.
  'renewal-failed':
    'certificates could not be renewed, or one is still trusted; each part has its own code',
  'leaf-not-signed': 'a certificate could not be signed again; the old one is unchanged',
  'leaf-not-accepted':
    'a renewed certificate was not taken up or not accepted in time, so the old one was restored',
  'serving-request-pending': "the kubelet's request for a serving certificate was not approved",
  'worker-request-pending':
    "a joined worker's request for its next serving certificate was not approved",
  'rotation-rolled-back':
    'new certificates or keys did not work, so the old ones were restored; the cause has the reason',
  'laptop-ca-trusted':
    "auth/kubeconfig was exchanged, and the host could not end its trust in the laptop's CA",
  'serving-request-missing': 'the kubelet has not requested a new serving certificate in time',

  // On the laptop.
  'kubeconfig-not-exchanged':
    'the installation is complete, and auth/kubeconfig could not be exchanged; it is as it was',
  'site-volumes-incomplete':
    'some volumes of a table could not be made; the others are complete, and "--resume" makes the rest',

  // Backups.
  'backup-no-space': 'the disk has no room for another backup; nothing incomplete was left',
  'backup-not-stored': 'the newest backup is not where backup-to.json says; it is on the host',
  'backup-unusable':
    'a backup is missing, damaged, of another cluster, of unknown origin, or writable by others than root; nothing was changed',
  'restore-undone':
    'a backup could not be restored; the database from before, if there was one, is in use',

  // Changes on request, on trial, and updates.
  'change-under-way': 'another change of the host is under way or on trial; nothing was changed',
  'trial-not-confirmed': 'a change was not confirmed in time, or after too many restarts',
  'trial-reverted': 'a change was taken back; the host is as before it',
  'way-back-requested': 'somebody had the host brought back to what it was before',
  'trial-incomplete': 'a change was taken back, except for the parts that could not be put back',
  'update-refused': 'an update is not one for this host, or is not signed for it',
  'update-reverted': 'an update did not settle, so the host went back to what it had',
  'update-emulates':
    'an update is in use, and its control plane did not settle without emulating the minor version before',

  // The site of a relocatable node.
  'site-config-refused':
    'site-config.yaml has faults, or asks for what the node cannot be; nothing was changed',
  'site-volume-refused':
    'a site volume is damaged, used, expired, for another node or not signed for it; nothing was changed',
} as const;

export type FailureCode = keyof typeof FAILURE_CODES;

export const isFailureCode = (code: string): code is FailureCode =>
  Object.hasOwn(FAILURE_CODES, code);
