// Imported before uPlot, which makes a formatter for the browser's language when it is loaded: in the locale "C" browsers
// name one that does not exist, "en-US@posix".

try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en-US" });
}
