// Runs before anything is painted, so that a page that is to be dark is not light for a moment.
try {
  const theme = localStorage.getItem("forethought-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* storage may be forbidden; then it is as the system is */ }
