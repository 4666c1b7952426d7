import { z } from 'zod';

/** Exists while the kubelet of a test runs. A path of the host, as all of these. */
export const KUBELET_ACTIVE = '/run/kubelet-is-active';
/** What these paths begin with exists for containers that were stopped while no kubelet ran. */
export const STOPPED = '/run/stopped-';

/** `systemctl`, as far as it concerns the kubelet. */
export const SYSTEMCTL = `case "$*" in
  "stop kubelet.service") rm -f "$ROOT${KUBELET_ACTIVE}" ;;
  "start kubelet.service"|"restart kubelet.service")
    rm -f "$ROOT${STOPPED}"*; touch "$ROOT${KUBELET_ACTIVE}" ;;
  "show kubelet.service "*)
    [ -e "$ROOT${KUBELET_ACTIVE}" ] && echo ActiveState=active || echo ActiveState=inactive ;;
  start*|restart*|stop*|reset-failed*|daemon-reload) ;;
  show*) echo 0 ;;
  *) exit 1 ;;
esac`;

/** What a runtime is asked for by StopContainer. */
export const stopRequest = z.object({ containerId: z.string() });
