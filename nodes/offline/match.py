def name_stems(tool): return [tool.name.split("_")[0]]
def named_in_full(clause, draft): return False
def any_tool(clause, draft, text): return False
