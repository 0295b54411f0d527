/** Pass calls on at most once an interval (ms), the last one always. */
export function throttle<T>(interval: number, call: (value: T) => void, now: () => number = () => performance.now()): (value: T) => void {
  let last = -Infinity;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let pending: T;
  const fire = () => {
    timer = null;
    last = now();
    call(pending);
  };
  return (value) => {
    pending = value;
    if (timer !== null) return;
    const wait = last + interval - now();
    if (wait <= 0) fire();
    else timer = setTimeout(fire, wait);
  };
}
